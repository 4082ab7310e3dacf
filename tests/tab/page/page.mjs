// Starts the worker and keeps what it says: `walk(directory, names)` gives the answers as JSON.
const worker = new Worker("worker.mjs", { type: "module" });

window.walk = (directory, names) => new Promise((done, fail) => {
  worker.onmessage = ({ data }) => ("answers" in data ? done(data.answers) : fail(new Error(data.error)));
  worker.onerror = event => fail(new Error(event.message));
  worker.postMessage({ directory, names });
});
