import { hash } from 'node:crypto';
import type { FootageFlow } from '../../contracts/admin/footage.dto.js';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import { PAGE_HEADERS } from '../../http/headers.js';
import type { TicketContents } from '../../scale/weighed-tickets.js';

/** What the page of a link shows. */
export interface SharedFacts {
  readonly recording: Pick<StoredRecording, 'cameraId' | 'startTime' | 'endTime'>;
  /** Relative to the page. */
  readonly videoAddress: string;
  readonly ticket: TicketContents | undefined;
  readonly siteName: string | undefined;
  readonly expiresAt: Date;
}

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
table{width:100%;border-collapse:collapse;margin-top:1rem}
th,td{text-align:left;padding:.4rem .5rem .4rem 0;border-top:1px solid var(--line);overflow-wrap:anywhere}
td.number,th.number{text-align:right;white-space:nowrap}
@media(max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.5rem}}
`;

/** Nothing but the video and the one style is loaded, the form goes to this service alone, no page may frame it, and nothing learns its address. */
export const SHARED_HEADERS: ReadonlyMap<string, string> = new Map([
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
class Html {
  constructor(readonly text: string) {}
}

/** Byte for byte the style whose hash the policy has. */
const STYLE_ELEMENT = new Html(`<style>${STYLE}</style>`);

type Value = Html | string | number | readonly Html[];

const html = (parts: TemplateStringsArray, ...values: readonly Value[]): Html =>
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

const page = (title: string, body: Html): string =>
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

/** The same for every link that does not work, so that nobody learns why. */
export const BROKEN_LINK_PAGE = page(
  'This link does not work',
  html`<h1>This link does not work</h1>
    <section>
      <p>It may be incomplete, have expired, or have been withdrawn.</p>
      <p class="hint">Ask the person who sent it for a new one.</p>
    </section>`,
);

/** The form has no address of its own: it is sent to the address that was opened, below whatever path a proxy has put it. */
export const askingPage = (expiresAt: Date): string =>
  page(
    'A recording is shared with you',
    html`<h1>A recording is shared with you</h1>
      <section>
        <form method="post"><button type="submit">Show the recording</button></form>
        <p class="hint">It is recorded when it is played.</p>
      </section>
      ${untilPart(expiresAt)}`,
  );

const untilPart = (expiresAt: Date): Html => html`<p class="hint">This link works until ${timeText(expiresAt)}.</p>`;

const TIME = new Intl.DateTimeFormat('en-US', {
  ...{ timeZone: 'UTC', hourCycle: 'h23', year: 'numeric', month: 'short', day: 'numeric' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit' },
});

const timeText = (time: string | Date): string => `${TIME.format(new Date(time))} UTC`;

const FLOW_TITLES: Readonly<Record<FootageFlow['flow'], string>> = { inbound: 'Inbound', outbound: 'Outbound' };

/** Before a weighing, so that the truck is seen to arrive. */
const LEAD_SECONDS = 10;

/** Seconds of the recording at which a weighing is; undefined outside of it. */
function offsetOf({ time }: FootageFlow, { startTime, endTime }: SharedFacts['recording']): number | undefined {
  const [moment, start, end] = [time, startTime, endTime].map((each) => Date.parse(each)) as [number, number, number];
  return moment < start || moment >= end ? undefined : (moment - start) / 1_000;
}

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

export function sharedPage(facts: SharedFacts): string {
  const { recording, videoAddress, ticket, expiresAt } = facts;
  const { cameraId, startTime, endTime } = recording;
  const flows = (ticket?.flows ?? []).map((flow) => ({ flow, offset: offsetOf(flow, recording) }));
  const first = Math.min(...flows.flatMap(({ offset }) => offset ?? []));
  const begin = Number.isFinite(first) ? `#t=${Math.max(0, Math.floor(first) - LEAD_SECONDS)}` : '';
  const numbers = flows.map(({ flow }) => flow.ticketNumber).join(' / ');
  const title = ticket === undefined ? 'Recording' : numbers === '' ? 'Ticket' : `Ticket ${numbers}`;
  return page(
    title,
    html`<h1>${title}</h1>
      <video
        controls
        preload="metadata"
        playsinline
        aria-label="${`Camera ${cameraId}`}"
        src="${videoAddress + begin}"
      ></video>
      <section aria-label="Recording">
        <h2>Recording</h2>
        <dl>
          <dt>Camera</dt>
          <dd>${cameraId}</dd>
          <dt>From</dt>
          <dd>${timeText(startTime)}</dd>
          <dt>To</dt>
          <dd>${timeText(endTime)}</dd>
        </dl>
      </section>
      ${ticket === undefined ? '' : ticketPart(ticket, facts.siteName, flows)} ${untilPart(expiresAt)}`,
  );
}

function ticketPart(
  { materials }: TicketContents,
  siteName: string | undefined,
  flows: readonly { readonly flow: FootageFlow; readonly offset: number | undefined }[],
): Html {
  const rows = flows.map(({ flow, offset }) => {
    const place = offset === undefined ? '' : `, at ${clock(offset)} of the video`;
    return html`<dt>${FLOW_TITLES[flow.flow]}</dt>
      <dd>${flow.ticketNumber}, weighed ${timeText(flow.time)}${place}</dd>`;
  });
  const site =
    siteName === undefined
      ? ''
      : html`<dt>Site</dt>
          <dd>${siteName}</dd>`;
  const lines = materials.map(
    ({ name, quantity, unitOfMeasure }) =>
      html`<tr>
        <td>${name}</td>
        <td class="number">${quantity.toLocaleString('en-US', { maximumFractionDigits: 6 })} ${unitOfMeasure}</td>
      </tr>`,
  );
  return html`<section aria-label="Ticket">
    <h2>Ticket</h2>
    <dl>${rows}${site}</dl>
    <table>
      <thead>
        <tr>
          <th scope="col">Material</th>
          <th scope="col" class="number">Quantity</th>
        </tr>
      </thead>
      <tbody>
        ${lines}
      </tbody>
    </table>
  </section>`;
}
