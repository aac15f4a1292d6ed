import { timingSafeEqual } from 'node:crypto';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Application, Request } from 'express';
import type { Env } from '../core/config/env.js';
import { type EventData, filled, SENT_TOPICS, type SentTopic, topicOf } from '../contracts/webhooks/topics.values.js';
import { AppError } from '../core/errors/app-error.js';
import { readBytesWithoutKey } from '../core/http/body-reader.js';
import { readJsonText } from '../core/http/json-body.js';
import { html, LONE_PAGE_HEADERS, page } from '../core/http/lone-page.js';
import { requireRead } from '../core/http/serve-folder.js';
import { signatureHeaders } from '../webhooks/endpoint.rules.js';
import { storedSecrets } from './demo-keys.js';

export const RECEIVER_PATH = '/demo/webhooks';

const MAX_SHOWN = 50;
/** Older ones may be repeated by somebody who has seen them (Standard Webhooks). */
const MAX_AGE_SECONDS = 300;

interface Message {
  readonly id: string;
  readonly type: SentTopic;
  readonly timestamp: string;
  readonly data: EventData;
}

/** The receiver of the demo's webhook endpoint. It keeps the newest messages in memory, and a page shows them. */
export function serveReceivedWebhooks(app: NestExpressApplication, { DATA_DIR }: Pick<Env, 'DATA_DIR'>): void {
  const received = new Map<string, Message>();
  const express = app.getHttpAdapter().getInstance() as Application;
  express.all(RECEIVER_PATH, async (request, response) => {
    if (request.method !== 'POST') {
      requireRead(request);
      response.setHeaders(LONE_PAGE_HEADERS as Map<string, string>).type('html');
      response.send(receivedPage([...received.values()].reverse()));
      return;
    }
    const message = await readMessage(request, storedSecrets(DATA_DIR).webhook);
    // A message that is delivered again has the same id.
    received.set(message.id, message);
    for (const id of received.keys()) if (received.size > MAX_SHOWN) received.delete(id);
    response.status(204).end();
  });
}

/** Throws `unauthorized` for a message that this service has not signed. */
async function readMessage(request: Request, secret: string | undefined): Promise<Message> {
  const body = await readJsonText(request, readBytesWithoutKey);
  const id = String(request.headers['webhook-id']);
  const timestamp = Number(request.headers['webhook-timestamp']);
  const isNew = Math.abs(Date.now() / 1_000 - timestamp) < MAX_AGE_SECONDS;
  if (secret === undefined || !isNew || !isSignedWith(secret, request, { id, timestamp, body })) {
    throw new AppError('unauthorized', 'this is no message of the webhook endpoint of the demo');
  }
  return { ...(JSON.parse(body) as Omit<Message, 'id'>), id };
}

function isSignedWith(
  secret: string,
  { headers }: Request,
  message: { readonly id: string; readonly timestamp: number; readonly body: string },
): boolean {
  const expected = Buffer.from(signatureHeaders(message, [secret])['webhook-signature']);
  return String(headers['webhook-signature'])
    .split(' ')
    .map((signature) => Buffer.from(signature))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}

function receivedPage(messages: readonly Message[]): string {
  const rows = messages
    .filter(({ type }) => SENT_TOPICS.includes(type))
    .map(({ type, timestamp, data }) => {
      const topic = topicOf(type);
      const address = `/console/${filled(topic.page, data, encodeURIComponent)}`;
      return html`<tr>
        <td class="time">${new Date(timestamp).toISOString().slice(11, 19)}</td>
        <td>
          <div class="event"><a href="${address}">${type}</a><span>${filled(topic.sentence, data)}</span></div>
        </td>
      </tr>`;
    });
  const nothing = html`<p>Nothing has arrived since the start of the service: push a ticket, then load this page.</p>`;
  const table = html`<table>
    <thead>
      <tr>
        <th scope="col">UTC</th>
        <th scope="col">Event, and what happened</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
  return page(
    'Webhooks that arrived',
    html`<h1>Webhooks that arrived</h1>
      <p class="hint">
        The demo is a receiver of its own webhooks. Each message below has a valid signature; the newest ${MAX_SHOWN}
        since the start of the service are shown.
        <a href="/console/webhooks">The endpoint, and what was delivered to it</a>.
      </p>
      <section aria-label="Messages">${rows.length === 0 ? nothing : table}</section>`,
  );
}
