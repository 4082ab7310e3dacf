/* A guess to write down, and the guess beside the truth: Python keeps it and compares.

   Python says in `this.shown`
       view    {kind: "guess", question, answer, sure, said, isWritten, isOpen, levels, error}, or
               {kind: "look", question, answer, said, isWritten, truth, right, error}
   The browser asks for {type: "write", answer, sure} and {type: "judge", right}.

   What a reader wrote and what comes from a lake is text: it is only ever set as textContent or value. */

let forms = 0; // names of the groups of radio buttons of a page

class Guessing extends View {
  constructor(model, el, shown) {
    super(model, el, "ll-root ll-gs", shown);
    this.head = make("p", "ll-p ll-h");
    this.body = make("div");
    this.status = make("p", "ll-p ll-m");
    this.status.setAttribute("role", "status");
    this.root.append(this.head, this.body, this.status);
    this.isEditing = false;
    this.show();
  }

  take(parts) {
    if (!parts.view) return;
    if (!parts.view.error) this.isEditing = false;
    this.show();
  }

  show() {
    const { view } = this.shown;
    const had = this.root.contains(document.activeElement);
    this.head.replaceChildren(make("b", "", view.kind === "guess" ? "Guess" : "Look"), " ", make("span", "", view.question));
    this.body.replaceChildren(...(view.kind === "guess" ? this.drawGuess(view) : this.drawLook(view)));
    if (had) this.focus();
    if (!view.error) return;
    this.status.className = "ll-p ll-w";
    this.status.textContent = view.error;
  }

  /* Where one goes on: in the form, or on what was written down, so that a second Enter opens nothing. */
  focus() {
    const place = this.root.querySelector("input") ?? this.body;
    if (place === this.body) this.body.tabIndex = -1;
    place.focus();
  }

  say(text) {
    this.status.className = "ll-p ll-m";
    this.status.textContent = text;
  }

  drawGuess(view) {
    if (view.isWritten && !this.isEditing) return this.drawWritten(view);
    this.say("It is kept on this machine, in a file of your own.");
    const form = make("form", "ll-form");
    const field = make("input", "ll-field");
    field.type = "text";
    field.value = view.answer;
    field.maxLength = 300;
    field.autocomplete = "off";
    field.placeholder = "a number, or your own words";
    field.setAttribute("aria-label", `your guess: ${view.question}`);
    const levels = make("fieldset");
    levels.append(make("legend", "ll-m", "How sure are you?"));
    forms += 1;
    for (const [sure, word] of view.levels) levels.append(this.drawLevel(sure, word, sure === view.sure));
    const write = make("button", "", "Write it down");
    write.type = "submit";
    form.append(field, levels, write);
    this.on(form, "submit", (event) => {
      event.preventDefault();
      if (!field.value.trim()) {
        field.focus();
        return;
      }
      const sure = Number(form.querySelector("input[type=radio]:checked")?.value ?? 50);
      this.model.send({ type: "write", answer: field.value, sure });
    });
    return [form];
  }

  drawLevel(sure, word, isChosen) {
    const label = make("label");
    const radio = make("input");
    radio.type = "radio";
    radio.name = `ll-sure-${forms}`;
    radio.value = String(sure);
    radio.checked = isChosen;
    label.append(radio, make("span", "", word), make("small", "", `${sure} %`));
    return label;
  }

  drawWritten(view) {
    const line = make("p", "ll-p ll-acts");
    const said = make("span");
    said.append(make("strong", "", view.answer), ` · ${view.said}`);
    line.append(said);
    this.say(view.isOpen ? "Written down. Now look: run the next cell." : "You have looked: this guess stays.");
    if (!view.isOpen) return [line];
    const change = make("button", "", "Change it");
    this.on(change, "click", () => {
      this.isEditing = true;
      this.show();
    });
    line.append(change);
    return [line];
  }

  drawLook(view) {
    const table = make("table", "ll-t ll-f");
    const row = make("tr");
    const mark = { true: ["ll-a", "right"], false: ["ll-w", "not what you guessed"] }[String(view.right)];
    const cells = [["your guess", view.isWritten ? view.answer : "none", view.said], ["it is", view.truth, ""]];
    if (mark) cells.push(["so it was", mark[1], "", mark[0]]);
    for (const [label, value, small, className] of cells) {
      const cell = make("td");
      const shown = make("b");
      shown.append(make("span", className ?? "", value));
      cell.append(make("span", "ll-m", label), make("br"), shown);
      if (small) cell.append(" ", make("br"), make("small", "", small));
      row.append(cell);
    }
    const body = make("tbody");
    body.append(row);
    table.append(body);
    this.say(view.isWritten ? "" : "Write your guess down above, and it will stand here.");
    return view.isWritten && view.right === null ? [table, this.drawJudge()] : [table];
  }

  drawJudge() {
    const box = make("p", "ll-p ll-judge");
    box.append(make("span", "", "Did you have it?"));
    for (const [right, word] of [[true, "I had it"], [false, "Not quite"]]) {
      const button = make("button", "", word);
      this.on(button, "click", () => this.model.send({ type: "judge", right }));
      box.append(button);
    }
    return box;
  }
}

export default host(Guessing);
