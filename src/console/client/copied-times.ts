/** The pages show of a time what is necessary. What is copied from them has all of it. */
export function copyWholeTimes(): void {
  document.addEventListener('copy', (event) => {
    const selection = getSelection();
    if (selection === null || selection.isCollapsed || event.clipboardData === null) return;
    const range = selection.getRangeAt(0);
    const { commonAncestorContainer: common } = range;
    const around = (common instanceof Element ? common : common.parentElement)?.closest('time');
    const box = document.createElement('div');
    box.append(around?.textContent === selection.toString() ? around.cloneNode(true) : range.cloneContents());
    const times = box.querySelectorAll('time');
    if (times.length === 0) return;
    for (const time of times) time.textContent = time.title;
    // Text that is laid out has the tabs and the line ends of a table.
    box.className = 'hidden';
    document.body.append(box);
    event.clipboardData.setData('text/plain', box.innerText);
    event.clipboardData.setData('text/html', box.innerHTML);
    box.remove();
    event.preventDefault();
  });
}
