/* global document, location, matchMedia, navigator, getSelection */
// Commands have the address of this service in place of the addresses that stand for it.
const EXAMPLES = /https:\/\/(?:platform|haulbridge)\.example(?![\w.-])|http:\/\/127\.0\.0\.1:3000(?!\d)/g;
for (const code of document.querySelectorAll('code'))
  code.textContent = code.textContent.replace(EXAMPLES, location.origin);

// A button that copies a block of code. Without permission for the clipboard (plain HTTP) it selects the block.
for (const block of document.querySelectorAll('.code')) {
  const code = block.querySelector('code');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = 'Copied';
    } catch {
      getSelection().selectAllChildren(code);
      button.textContent = 'Selected';
    }
    setTimeout(() => (button.textContent = 'Copy'), 2_000);
  });
  block.append(button);
}

// On a narrow screen the menu is closed at first; without scripts it stays open.
const isNarrow = matchMedia('(max-width: 60rem)');
const menu = document.querySelector('.menu');
const fold = () => (menu.open = !isNarrow.matches);
isNarrow.addEventListener('change', fold);
fold();
