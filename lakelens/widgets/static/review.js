/* A review: a question with choices, what was behind the one that was taken, and the next question.

   Python says in `this.shown`
       view    {sentence, question, isAgain, choices, letters, ideas, reply, error}; ideas are [name, sentence] at the end;
               reply is null, or {chosen, right, isRight, idea, sentence, because, place, due}
   The browser asks for {type: "choose", choice}, {type: "skip"} and {type: "next"}. */

/* The parts of a text: what is between backticks is code. */
function split(text) {
  return text.split("`").map((part, i) => (i % 2 ? make("code", "", part) : part));
}

class Reviewing extends View {
  constructor(model, el, shown) {
    super(model, el, "ll-root ll-rv", shown);
    this.head = make("p", "ll-p ll-h");
    this.body = make("div");
    this.status = make("p", "ll-p");
    this.status.setAttribute("role", "status");
    this.acts = make("p", "ll-p ll-acts");
    this.root.append(this.head, this.body, this.status, this.acts, this.drawKeys());
    this.on(this.root, "keydown", (event) => this.type(event));
    this.show();
  }

  take(parts) {
    if (parts.view) this.show();
  }

  show() {
    const { view } = this.shown;
    const had = this.root.contains(document.activeElement);
    this.head.replaceChildren(make("b", "", "Review"), " ", make("span", "", view.sentence));
    this.body.replaceChildren(...(view.question ? this.drawQuestion(view) : this.drawEnd(view)));
    this.status.className = view.error ? "ll-p ll-w" : "ll-p";
    this.status.replaceChildren(...(view.reply ? this.drawReply(view.reply) : [view.error]));
    this.acts.replaceChildren(...this.drawActs(view));
    if (had) (view.reply ? this.acts : this.body).querySelector("button:enabled")?.focus();
  }

  drawQuestion(view) {
    const question = make("p", "ll-p");
    const asked = make("strong");
    asked.append(...split(view.question));
    question.append(asked);
    if (view.isAgain) question.append(" ", make("small", "", "once more"));
    const choices = make("div", "ll-choices");
    choices.setAttribute("role", "group");
    choices.setAttribute("aria-label", view.question);
    view.choices.forEach((choice, i) => {
      const button = make("button");
      const text = make("span");
      text.append(...split(choice));
      button.append(make("b", "", view.letters[i]), text);
      if (view.reply) {
        button.disabled = true;
        if (choice === view.reply.right) this.mark(button, "ll-yes", "right");
        else if (choice === view.reply.chosen) this.mark(button, "ll-no", "your choice");
      } else this.on(button, "click", () => this.model.send({ type: "choose", choice }));
      choices.append(button);
    });
    return [question, choices];
  }

  mark(button, className, word) {
    button.classList.add(className);
    button.append(make("small", "", word));
  }

  drawReply(reply) {
    const first = make("span", reply.isRight ? "ll-a" : "ll-w", reply.isRight ? "Right." : `A misconception, “${reply.idea}”.`);
    const parts = [first, " ", ...split(`${reply.sentence} ${reply.because} `)];
    parts.push(make("small", "", `${reply.place}; ${reply.due}.`));
    return parts;
  }

  drawActs(view) {
    if (!view.question) return [];
    if (view.reply) return [this.drawButton("Next", "next")];
    return [this.drawButton("Later", "skip"), makeLink("keys", "? keys")];
  }

  drawButton(word, type) {
    const button = make("button", "", word);
    this.on(button, "click", () => this.model.send({ type }));
    return button;
  }

  drawEnd(view) {
    if (!view.ideas.length) return [];
    const list = make("ul", "ll-p");
    for (const [name, sentence] of view.ideas) {
      const entry = make("li");
      entry.append(make("b", "", `${name}: `), ...split(sentence));
      list.append(entry);
    }
    return [make("p", "ll-p", "To think about once more:"), list];
  }

  type(event) {
    const { view } = this.shown;
    const acts = {};
    if (view.question && !view.reply) view.letters.forEach((letter, i) => (acts[letter] = () => this.model.send({ type: "choose", choice: view.choices[i] })));
    this.press(event, acts);
  }
}

export default host(Reviewing);
