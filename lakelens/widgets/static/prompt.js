/* A line to type in, at the bottom of a widget: what to search for, where to go. */
class Prompt {
  constructor(view, back) {
    this.back = back; // where the focus goes when it closes
    this.act = null;
    this.node = make("div", "ll-prompt");
    this.node.hidden = true;
    this.input = make("input");
    this.input.type = "search";
    this.input.maxLength = 200;
    this.name = make("label");
    this.name.append(make("span"), " ", this.input);
    this.node.append(this.name, " ", make("small", "", "Enter; Escape leaves"));
    view.on(this.input, "keydown", (event) => this.press(event));
  }

  open(name, placeholder, act) {
    this.act = act;
    this.name.firstChild.textContent = name;
    this.input.placeholder = placeholder;
    this.node.hidden = false;
    this.input.focus();
    this.input.select();
  }

  press(event) {
    if (event.key === "Enter" && this.input.value.trim()) this.act(this.input.value.trim());
    else if (["Escape", "ArrowDown"].includes(event.key)) this.close();
    else return;
    event.preventDefault();
  }

  close() {
    this.node.hidden = true;
    this.back();
  }
}
