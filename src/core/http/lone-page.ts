import { hash } from 'node:crypto';
import { PAGE_HEADERS } from './headers.js';

const STYLE = `
:root{color-scheme:light dark;--line:light-dark(#d5dae1,#3a424d);--muted:light-dark(#525c69,#a9b4c2);--page:light-dark(#f4f6f8,#14181d);--card:light-dark(#fff,#1c2229)}
body{margin:0;background:var(--page);font:16px/1.5 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 3rem}
h1{font-size:1.4rem;line-height:1.25;margin:0 0 1rem;overflow-wrap:anywhere}
h2{font-size:1.05rem;margin:0 0 .5rem}
section{background:var(--card);border:1px solid var(--line);border-radius:.6rem;padding:1rem;margin-top:1rem}
video{display:block;width:100%;max-height:70vh;background:#000;border-radius:.6rem}
button{font:inherit;padding:.6rem 1.1rem;border:1px solid var(--line);border-radius:.6rem;cursor:pointer}
dl{display:grid;grid-template-columns:minmax(7rem,auto) 1fr;gap:.35rem 1rem;margin:0}
dt,p.hint{color:var(--muted)}
dd{margin:0;overflow-wrap:anywhere}
table{width:100%;border-collapse:collapse}
section>*+table{margin-top:1rem}
thead th{border-top:0}
th,td{text-align:left;padding:.4rem .5rem .4rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
td.number,th.number{text-align:right}
td.number,th.number,td.time{white-space:nowrap}
td.event{display:flex;flex-wrap:wrap;gap:0 1rem}
td.event>:first-child{flex:0 0 10rem}
td.event>:last-child{flex:1 1 12rem}
@media(max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
`;

/** The headers of a page that stands alone. Nothing but a video and the one style is loaded, the form goes to this service alone, no page may frame it, and nothing learns its address. */
export const LONE_PAGE_HEADERS: ReadonlyMap<string, string> = new Map([
  ...PAGE_HEADERS,
  [
    'Content-Security-Policy',
    `default-src 'none'; media-src 'self'; style-src 'sha256-${hash('sha256', STYLE, 'base64')}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
  ],
  ['Cache-Control', 'no-store'],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Robots-Tag', 'noindex, nofollow, noarchive'],
]);

/** Markup in which every value is escaped. */
export class Html {
  constructor(readonly text: string) {}
}

/** Byte for byte the style whose hash the policy has. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

type Value = Html | string | number | readonly Html[];

export const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
  new Html(parts.reduce((text, part, i) => text + markup(values[i - 1]) + part));

function markup(value: Value | undefined): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return String(value)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

export const page = (title: string, body: Html): string =>
  '<!doctype html>' +
  html`<html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex, nofollow, noarchive" />
      <meta name="referrer" content="no-referrer" />
      <title>${title}</title>
      ${STYLE_ELEMENT}
    </head>
    <body>
      <main>${body}</main>
    </body>
  </html>`.text;
