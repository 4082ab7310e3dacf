// Python as the page sees it: what it is made of, fetched once with a word of how far, and a worker that answers messages.

// The parts, as bytes by name. `report` is told how many bytes are there; what was fetched is kept for the next visit.
export async function fetchParts({ parts, version }, report) {
  const cache = "caches" in self ? await caches.open(`lakelens-tab-${version}`).catch(() => null) : null;
  let there = 0, fetched = 0;
  const fetchPart = async ({ name, size }) => {
    const url = new URL(name, document.baseURI).href;
    let response = await cache?.match(url);
    const isKept = Boolean(response);
    response ??= await fetch(url, { cache: "no-cache" });
    if (!response.ok) throw new Error(`${name} cannot be fetched: the server answers ${response.status}`);
    const type = response.headers.get("content-type") ?? "application/octet-stream"; // of a script its own, or it is none
    const chunks = [];
    for (let reader = response.body.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      there += value.length;
      if (!isKept) fetched += value.length;
      report({ there, fetched });
    }
    const blob = new Blob(chunks);
    if (blob.size !== size) throw new Error(`${name} is another one than this page was made with: reload the page`);
    if (!isKept) await cache?.put(url, new Response(blob, { headers: { "content-type": type } })).catch(() => null); // the disk may be full
    return [name, await blob.arrayBuffer()];
  };
  return Object.fromEntries(await Promise.all(parts.map(fetchPart)));
}

// What Python's memory was once it could make first pages, kept for the next visit; null where nothing is.
const PICTURE = "python-memory";

export async function findPicture({ version }) {
  try {
    const kept = await (await caches.open(`lakelens-tab-${version}`)).match(new URL(PICTURE, document.baseURI).href);
    return (await kept?.arrayBuffer()) ?? null;
  } catch {
    return null;
  }
}

export async function keepPicture({ version }, picture) {
  try {
    const cache = await caches.open(`lakelens-tab-${version}`);
    const url = new URL(PICTURE, document.baseURI).href;
    if (picture) await cache.put(url, new Response(picture));
    else await cache.delete(url);
  } catch { /* the disk may be full, or nothing may be kept here */ }
}

// Answers what Python asks, through the service worker, of the files of a folder that stay with the page; gives a name for it.
export function answerFor(findLake) {
  const page = crypto.randomUUID?.(); // not where nothing is secure: there is no service worker either
  if (!page) return null;
  const answers = {
    async weigh(lake, begin, end) {
      const numbers = Array.from({ length: end - begin }, (_, at) => begin + at);
      const known = await Promise.all(numbers.map((number) => lake.weigh(number).catch(() => [NaN, NaN])));
      return new Float64Array(known.flat()).buffer;
    },
    read: async (lake, number, begin, end) => (await lake.take(number)).slice(begin, end).arrayBuffer(),
  };
  const channel = new BroadcastChannel(`lakelens-${page}`);
  channel.onmessage = async ({ data: { number, question } }) => {
    const [what, ...given] = question;
    try {
      channel.postMessage({ number, status: 200, content: await answers[what](findLake(), ...given.map(Number)) });
    } catch (error) {
      channel.postMessage({ number, status: error?.name === "NotFoundError" ? 404 : 500 });
    }
  };
  return page;
}

export class Stopped extends Error {}

export class Python {
  #worker = null;
  #waiting = new Map();
  #next = 0;
  // told what was read so far: files and their bytes
  onread = () => {};

  async start(parts, picture = null) {
    const where = new URL("worker.mjs", document.baseURI).href;
    // from a blob: a worker of a file would have a policy of its own, which a static server does not send
    const script = `import(${JSON.stringify(where)}).catch(error => postMessage({ id: "load", error: String(error), isFatal: true }));`;
    const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
    this.#worker = new Worker(url, { type: "module", name: "lakelens" });
    const loaded = new Promise((done, fail) => this.#waiting.set("load", { done, fail }));
    this.#worker.onmessage = ({ data }) => this.#take(data);
    this.#worker.onerror = (event) => this.#end(new Error(event.message || "Python cannot be started in this browser"));
    await loaded;
    URL.revokeObjectURL(url);
    return this.ask({ kind: "start", parts, picture }, [...Object.values(parts), ...(picture ? [picture] : [])]);
  }

  #take(data) {
    if (data.read) return this.onread(data.read);
    const key = data.isLoaded ? "load" : data.id;
    const { done, fail } = this.#waiting.get(key) ?? {};
    this.#waiting.delete(key);
    if (!data.error) return done?.(data);
    fail?.(new Error(data.error));
    if (data.isFatal) this.#end(new Error(data.error));
  }

  #end(error) {
    this.#worker?.terminate();
    this.#worker = null;
    for (const { fail } of this.#waiting.values()) fail(error);
    this.#waiting.clear();
  }

  get isRunning() {
    return this.#worker !== null;
  }

  ask(message, transferred = []) {
    if (!this.#worker) return Promise.reject(new Stopped("Python is not running"));
    const id = this.#next++;
    return new Promise((done, fail) => {
      this.#waiting.set(id, { done, fail });
      this.#worker.postMessage({ ...message, id }, transferred);
    });
  }

  stop() {
    this.#end(new Stopped("stopped"));
  }
}
