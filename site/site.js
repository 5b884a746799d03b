// Optional features of the pages: copy code, and search headings with the keyboard.
for (const block of document.querySelectorAll('.code')) {
  if (!navigator.clipboard) break;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  block.append(button);
}

const form = document.querySelector('.search');
if (form) {
  const input = form.querySelector('input');
  const found = form.querySelector('.found');
  const status = form.querySelector('[role=status]');
  form.hidden = false;
  let loading;
  const root = new URL('.', document.querySelector('script[src$="site.js"]').src);
  const load = () => {
    loading ??= new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = new URL('search.js', root).href;
      script.onload = () => resolve(globalThis.porticoHeadings);
      script.onerror = reject;
      document.head.append(script);
    });
    return loading;
  };

  /** Every word must occur in the heading or the title of its page. Headings starting with the first word are first. */
  const pick = (headings, text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const rank = ([title, page]) => {
      const [name, all] = [title.toLowerCase(), `${title} ${page}`.toLowerCase()];
      if (!words.every((word) => all.includes(word))) return 0;
      return name.startsWith(words[0]) ? 3 : words.every((word) => name.includes(word)) ? 2 : 1;
    };
    return headings
      .map((row) => [rank(row), row])
      .filter(([points]) => points > 0)
      .sort(([a], [b]) => b - a)
      .slice(0, 12)
      .map(([, row]) => row);
  };
  const show = async () => {
    const text = input.value.trim();
    found.hidden = text === '';
    if (text === '') {
      status.textContent = '';
      return;
    }
    const rows = pick(await load(), text);
    if (input.value.trim() !== text) return;
    found.replaceChildren(
      ...rows.map(([title, page, address]) => {
        const link = document.createElement('a');
        link.href = new URL(address, root).href;
        const small = document.createElement('small');
        small.textContent = page;
        link.append(title, small);
        return link;
      }),
    );
    if (rows.length === 0) {
      const none = document.createElement('p');
      none.textContent = 'No heading has these words.';
      found.append(none);
    }
    status.textContent = rows.length === 1 ? '1 heading' : `${rows.length} headings`;
  };
  const close = () => {
    found.hidden = true;
  };

  input.addEventListener('focus', () => void load().catch(() => {}));
  input.addEventListener('input', () => void show());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    found.querySelector('a')?.click();
  });
  form.addEventListener('keydown', (event) => {
    const links = [...found.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement);
    if (event.key === 'Escape') {
      close();
      input.focus();
    } else if (event.key === 'ArrowDown' && links.length > 0) links[Math.min(at + 1, links.length - 1)].focus();
    else if (event.key === 'ArrowUp' && at >= 0) (links[at - 1] ?? input).focus();
    else return;
    event.preventDefault();
  });
  found.addEventListener('click', (event) => {
    if (event.target.closest('a')) close();
  });
  document.addEventListener('focusin', (event) => {
    if (!form.contains(event.target)) close();
  });
  document.addEventListener('click', (event) => {
    if (!form.contains(event.target)) close();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.closest('input, textarea');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
}
