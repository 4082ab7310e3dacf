"use strict";
// <lakelens-view src="https://bucket.example/orders" page="files"></lakelens-view>: one page of a public table, of a zip at an
// address, or of a sample (sample:iceberg), in any web page. Nothing is fetched before it is scrolled to, or clicked.
(() => {
  const home = new URL(".", document.currentScript.src);
  const LEAST = 160, MOST = 1200; // pixels
  const STYLE = `:host{display:block;margin:1em 0;font:14px/1.5 system-ui,sans-serif}
    div,iframe{box-sizing:border-box;width:100%;border:1px solid color-mix(in srgb,currentColor 30%,transparent)}
    div{padding:12px 14px}iframe{display:block;height:${LEAST * 2}px;color-scheme:normal}
    button{font:inherit;color:inherit;background:transparent;border:1px solid;border-radius:2px;padding:4px 12px;cursor:pointer}
    small{margin-left:10px}code{overflow-wrap:anywhere}`;

  // The fragment that the folder's pages know: the lake, and the address of a page in it.
  function makeFragment(src, page) {
    const sample = /^sample:([\w-]+)$/.exec(src);
    const url = sample ? null : new URL(src, document.baseURI);
    if (url && !/^https?:$/.test(url.protocol)) throw new Error(`lakelens-view: no address of the web: ${src}`);
    const isPlace = page.startsWith("@") || page.split("?")[0].includes("/");
    const address = !page || isPlace ? page : `@-/${page}`;
    return `${sample ? `#sample/${sample[1]}` : `#url/${encodeURIComponent(url.href)}`}/${address}`;
  }

  class LakelensView extends HTMLElement {
    static observedAttributes = ["src", "page"];
    #frame = null;
    #watch = null;
    #take = ({ source, data }) => {
      if (source !== this.#frame?.contentWindow || typeof data?.lakelensHeight !== "number" || this.hasAttribute("height")) return;
      this.#frame.style.height = `${Math.min(Math.max(data.lakelensHeight, LEAST), MOST)}px`;
    };

    connectedCallback() {
      if (!this.shadowRoot) this.attachShadow({ mode: "open" });
      this.#offer();
    }

    disconnectedCallback() {
      this.#end();
    }

    attributeChangedCallback() {
      if (this.isConnected && this.shadowRoot) this.#offer();
    }

    #end() {
      this.#watch?.disconnect();
      removeEventListener("message", this.#take);
      this.#frame = null;
    }

    #show(node) {
      const sheet = new CSSStyleSheet(); // no element: the page's policy may forbid these
      sheet.replaceSync(STYLE);
      this.shadowRoot.adoptedStyleSheets = [sheet];
      this.shadowRoot.replaceChildren(node);
    }

    // What would be shown, before anything of it is asked for.
    #offer() {
      this.#end();
      const src = this.getAttribute("src") ?? "", page = this.getAttribute("page") ?? "";
      const box = document.createElement("div"), code = document.createElement("code");
      let fragment;
      try {
        fragment = makeFragment(src, page);
      } catch (error) {
        box.textContent = error.message;
        return this.#show(box);
      }
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: "show this table" });
      button.onclick = () => this.#load(fragment);
      code.textContent = page ? `${src}, ${page}` : src;
      const note = document.createElement("small");
      note.append(code, ` by lakelens, from ${home.host}`);
      box.append(button, note);
      this.#show(box);
      if (this.getAttribute("load") === "click") return;
      this.#watch = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && this.#load(fragment));
      this.#watch.observe(this);
    }

    #load(fragment) {
      this.#watch?.disconnect();
      const frame = document.createElement("iframe");
      // it needs its own origin for its worker and what it keeps; it can neither lead this page elsewhere nor ask in a dialogue
      frame.sandbox = "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-downloads";
      frame.referrerPolicy = "no-referrer";
      frame.title = `lakelens: ${this.getAttribute("src")}`;
      frame.src = new URL(`embed.html${fragment}`, home).href;
      if (this.hasAttribute("height")) frame.style.height = `${parseInt(this.getAttribute("height"), 10) || LEAST * 2}px`;
      addEventListener("message", this.#take);
      this.#frame = frame;
      this.#show(frame);
    }
  }

  if (!customElements.get("lakelens-view")) customElements.define("lakelens-view", LakelensView);
})();
