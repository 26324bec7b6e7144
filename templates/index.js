// Adds a search field to the table of recordings. Loads nothing from outside the page.
(() => {
  'use strict';
  const table = document.getElementById('recordings-table');
  if (!table) return;

  const box = document.createElement('p'), field = document.createElement('input'), found = document.createElement('span');
  box.className = 'find';
  field.id = 'filter';
  field.type = 'search';
  field.placeholder = 'Find';
  field.autocomplete = 'off';
  field.setAttribute('aria-label', 'Find recordings');
  found.className = 'faint';
  found.setAttribute('aria-live', 'polite');
  box.append(field, ' ', found);
  table.closest('.wide').before(box);

  const rows = [...table.tBodies[0].rows].map(row => [row.textContent.toLowerCase(), row]);
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const [text, row] of rows) {
      row.hidden = !words.every(word => text.includes(word));
      if (!row.hidden) count += 1;
    }
    found.textContent = words.length ? `${count} of ${rows.length}` : '';
  });
})();
