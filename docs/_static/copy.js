// A button on each block of code: copies it without prompts and without what was printed.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const code = block.querySelector("pre");
    if (!code || !navigator.clipboard) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      const lines = code.textContent.replace(/\n$/, "").split("\n");
      const typed = lines.filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
      const text = (typed.length ? typed.map((line) => line.slice(4)) : lines).join("\n");
      await navigator.clipboard.writeText(text + "\n");
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
    block.append(button);
  }
});
