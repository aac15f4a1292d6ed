import type { FootageFlow } from '../../contracts/admin/footage.dto.js';
import type { StoredRecording } from '../../contracts/admin/recordings.routes.js';
import { Html, html, page } from '../../core/http/lone-page.js';
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
        <p class="hint">Each playback is logged.</p>
      </section>
      ${untilPart(expiresAt)}`,
  );

const untilPart = (expiresAt: Date): Html => html`<p class="hint">This link works until ${timeText(expiresAt)}.</p>`;

const TIME = new Intl.DateTimeFormat('en-US', {
  timeZone: 'UTC',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
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
