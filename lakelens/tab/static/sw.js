// Keeps the files of one version of the folder, so that a later visit fetches nothing and works offline. VERSION, SHELL (what
// the page itself is) and KEPT (that, and what it fetches once something is opened) stand before this script.
const NAME = `lakelens-tab-${VERSION}`;
const find = (name) => new URL(name, registration.scope).href;
const KNOWN = new Set(KEPT.map(find));
const ASKED = find("asked/");

// What a worker wants to know of its page, and waits for: the page answers on the channel whose name is in the address.
function askPage(url) {
  const [page, ...question] = url.href.slice(ASKED.length).split("/");
  const number = crypto.randomUUID();
  const channel = new BroadcastChannel(`lakelens-${page}`);
  return new Promise((done) => {
    channel.onmessage = ({ data }) => {
      if (data.number !== number || data.question) return;
      channel.close();
      done(new Response(data.content ?? null, { status: data.status, headers: { "lakelens-page": page } }));
    };
    channel.postMessage({ number, question });
  });
}

addEventListener("install", (event) => {
  const fresh = SHELL.map((name) => new Request(find(name), { cache: "no-cache" }));
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(fresh)).then(() => skipWaiting()));
});

addEventListener("activate", (event) => {
  const scope = new URL(registration.scope).pathname;
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      // another folder of the same origin has a cache of its own, whose files are in another scope
      if (!name.startsWith("lakelens-tab-") || name === NAME) continue;
      const own = (await (await caches.open(name)).keys()).some(({ url }) => KNOWN.has(url));
      if (own) await caches.delete(name);
    }
    await clients.claim();
    for (const client of await clients.matchAll({ type: "window" })) client.postMessage({ version: VERSION, scope });
  })());
});

addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) { // a lake at an address: what leads to another one has no answer, nothing old is one
    if (request.mode === "cors") event.respondWith(fetch(new Request(request, { redirect: "error", credentials: "omit", cache: "no-cache" })));
    return;
  }
  if (url.href.startsWith(ASKED)) return event.respondWith(askPage(url));
  url.search = url.hash = "";
  if (request.method !== "GET" || !KNOWN.has(url.href)) return;
  event.respondWith((async () => {
    const cache = await caches.open(NAME);
    const kept = await cache.match(url.href);
    if (kept) return kept;
    const response = await fetch(request);
    if (response.ok) await cache.put(url.href, response.clone());
    return response;
  })());
});
