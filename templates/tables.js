// Makes tables sortable, and wide tables scrollable. Loads nothing from outside the page.
(() => {
  'use strict';

  function sortBy(table, at, button) {
    const head = button.closest('th'), body = table.tBodies[0];
    const was = head.getAttribute('aria-sort');
    const first = head.classList.contains('n') ? 'descending' : 'ascending';
    const other = first === 'ascending' ? 'descending' : 'ascending';
    const order = was === first ? other : first;
    for (const one of table.tHead.rows[0].cells) if (one.hasAttribute('aria-sort')) one.setAttribute('aria-sort', 'none');
    head.setAttribute('aria-sort', order);
    const sign = order === 'ascending' ? 1 : -1;
    const value = row => {
      const cell = row.cells[at];
      return cell.dataset.v === undefined ? cell.textContent : cell.dataset.v === '' ? null : Number(cell.dataset.v);
    };
    const natural = new Intl.Collator('en', { numeric: true });
    const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : natural.compare(String(a), String(b));
    // Unknown values come last in either order.
    const rows = [...body.rows].map(row => [value(row), row]);
    rows.sort(([a], [b]) => a === null || b === null ? (a === null) - (b === null) : sign * compare(a, b));
    body.append(...rows.map(([, row]) => row));
  }

  for (const table of document.querySelectorAll('table.sortable')) {
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      if (head.classList.contains('plain')) return;
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      button.addEventListener('click', () => sortBy(table, at, button));
      head.replaceChildren(button);
      head.setAttribute('aria-sort', 'none');
    });
  }

  /** Lets the keyboard focus and scroll tables that are wider than the page. */
  function reachable() {
    for (const wide of document.querySelectorAll('.wide')) {
      if (wide.scrollWidth <= wide.clientWidth) { wide.removeAttribute('tabindex'); continue; }
      wide.tabIndex = 0;
      wide.setAttribute('role', 'region');
      wide.setAttribute('aria-label', wide.querySelector('caption').textContent);
    }
  }
  addEventListener('resize', reachable);
  reachable();
})();
