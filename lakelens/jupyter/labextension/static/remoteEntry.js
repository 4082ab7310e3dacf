// lakelens in JupyterLab: "Open with lakelens" in the file browser, a tile in the launcher, a command in the palette.
//
// JupyterLab loads an extension as a container of module federation: `init` is given the modules that JupyterLab shares, `get`
// gives the extension's own. This one is written by hand and has nothing to bundle: what is read here is what runs.
(() => {
  "use strict";
  const NAME = "lakelens", OPEN = "lakelens:open", EXPLORE = "lakelens:explore";
  // what a table is made of, by name: metadata, manifests, Puffin, Parquet, ORC, and Paimon's files, most without an ending
  const FILES = [
    /\.metadata\.json(\.gz)?$/, /^version-hint\.text$/, /\.(avro|puffin|stats|parquet|orc|blob|index)$/,
    /^(snapshot|schema|tag|changelog|consumer)-[^.]+$/, /^(EARLIEST|LATEST)$/,
    /^(manifest|manifest-list|index|index-manifest|stat)-[0-9a-f-]+$/,
    /^(\d{20}\..*json|deletion_vector_.+\.bin)$/,
  ];
  const SANDBOX = ["allow-same-origin", "allow-scripts", "allow-forms", "allow-popups", "allow-downloads"];
  const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 24 24" fill="none"><g class="jp-icon3 jp-icon-selectable"
 stroke="#616161" stroke-width="2" stroke-linecap="round"><path d="M3 5h12M3 9.5h5M3 14h4M3 18.5h7M18.1 16.6l3.4 3.4"/>
<circle cx="14.5" cy="13" r="5"/></g></svg>`;

  let shared;

  /** A module of JupyterLab: the version that is in use, else the newest; nothing where the page has none. */
  async function load(name) {
    const versions = shared[name] ?? {};
    const newest = (a, b) => b.localeCompare(a, undefined, { numeric: true });
    const known = Object.keys(versions).sort(newest);
    const chosen = known.find(version => versions[version].loaded) ?? known[0];
    return chosen === undefined ? {} : (await versions[chosen].get())();
  }

  /** Pages in frames have the theme of the page around them; a page that is on its way is not seen in another. */
  function followTheme() {
    const paint = frame => {
      let root;
      try { root = frame.contentDocument?.documentElement; } catch { /* of another origin: it has its own theme */ }
      if (root) {
        root.style.colorScheme = document.body.dataset.jpThemeLight === "false" ? "dark" : "light";
        frame.contentWindow.addEventListener("pagehide", () => { frame.style.visibility = "hidden"; });
      }
      frame.style.visibility = "";
    };
    const isOurs = node => node instanceof HTMLIFrameElement && node.name === NAME;
    document.addEventListener("load", event => { if (isOurs(event.target)) paint(event.target); }, true);
    new MutationObserver(() => document.querySelectorAll(`iframe[name=${NAME}]`).forEach(paint))
      .observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  }

  async function makePlugin() {
    const [apputils, browser, components, core, application, launchers] = await Promise.all([
      load("@jupyterlab/apputils"), load("@jupyterlab/filebrowser"), load("@jupyterlab/ui-components"),
      load("@jupyterlab/coreutils"), load("@jupyterlab/application"), load("@jupyterlab/launcher"),
    ]);
    const { PageConfig, URLExt } = core;

    /** The one thing that is chosen in the file browser, where it may be a table or of one. */
    const pickChosen = browsers => {
      const chosen = [...browsers?.tracker.currentWidget?.selectedItems() ?? []];
      const isOfTable = item => item.type === "directory" || FILES.some(one => one.test(item.name));
      return chosen.length === 1 && isOfTable(chosen[0]) ? chosen[0] : null;
    };

    function activate(app, browsers, palette, restorer, launcher) {
      const base = URLExt.join(PageConfig.getBaseUrl(), NAME) + "/";
      const icon = new components.LabIcon({ name: "lakelens:icon", svgstr: ICON });
      const tracker = new apputils.WidgetTracker({ namespace: NAME });
      const isLab = !PageConfig.getOption("notebookPage"); // Notebook 7 has a browser's tab for each thing

      /** The address of the page about a path of Jupyter's files; without one, about all tables. */
      const makeUrl = path => {
        const local = app.serviceManager.contents.localPath(path); // without the name of a drive
        return local ? `${base}open?path=${encodeURIComponent(local)}` : base;
      };
      const makePanel = (path, id) => {
        const content = new components.IFrame({ sandbox: SANDBOX });
        const frame = content.node.querySelector("iframe");
        frame.name = NAME;
        frame.title = path ? `lakelens: ${path}` : NAME;
        content.url = makeUrl(path);
        content.title.label = path.split("/").pop() || NAME;
        content.title.caption = path ? `lakelens: ${path}` : "Every table below Jupyter's directory";
        content.title.icon = icon;
        content.title.closable = true;
        const panel = new apputils.MainAreaWidget({ content });
        panel.id = id;
        panel.lakelensPath = path;
        return panel;
      };
      const open = path => {
        if (!isLab) return void window.open(makeUrl(path), "_blank");
        const id = `lakelens-${path}`;
        if (!tracker.find(panel => panel.id === id)) {
          const panel = makePanel(path, id);
          tracker.add(panel);
          app.shell.add(panel, "main");
        }
        app.shell.activateById(id);
      };

      app.commands.addCommand(OPEN, {
        label: "Open with lakelens",
        caption: "The table that this is, or the bytes of this file of a table",
        icon,
        isVisible: () => pickChosen(browsers) !== null,
        execute: args => {
          const path = args?.path ?? pickChosen(browsers)?.path;
          if (path !== undefined) open(path);
        },
      });
      app.commands.addCommand(EXPLORE, {
        label: args => args?.isPalette ? "Explore Tables with lakelens" : NAME,
        caption: "Every table below Jupyter's directory",
        icon,
        execute: () => open(""),
      });
      app.contextMenu.addItem({ command: OPEN, selector: ".jp-DirListing-item[data-isdir]", rank: 3 });
      palette?.addItem({ command: EXPLORE, category: "Data", args: { isPalette: true } });
      launcher?.add({ command: EXPLORE, category: "Other", rank: 5 });
      if (isLab) restorer?.restore(tracker, {
        command: OPEN,
        args: panel => ({ path: panel.lakelensPath }),
        name: panel => panel.id,
      });
      followTheme();
    }

    const offered = [
      browser.IFileBrowserFactory, apputils.ICommandPalette, application.ILayoutRestorer, launchers.ILauncher,
    ];
    return {
      id: "lakelens:plugin",
      description: "Opens tables, and files of tables, with lakelens.",
      autoStart: true,
      optional: offered.filter(token => token !== undefined),
      // a page that lacks a module (Notebook 7 has no launcher) was not asked for what is in it
      activate: (app, ...given) => activate(app, ...offered.map(token => token === undefined ? null : given.shift())),
    };
  }

  (window._JUPYTERLAB ??= {})[NAME] = {
    init(scope) { shared ??= scope; },
    async get(name) {
      if (name !== "./extension") throw new Error(`lakelens has no module ${name}`);
      const plugin = await makePlugin();
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
