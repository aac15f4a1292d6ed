import { join } from 'node:path';
import type { ResolvedEnv } from '../core/config/env.js';
import { DEMO } from './demo-data.js';
import { STORY } from './pushes.rules.js';
import { RECEIVER_PATH } from './received-webhooks.js';
import type { Demo } from './seed.js';

/** What the demo shows, and the page that shows it. README.md has the same list; each is open after at most two presses. */
const QUESTIONS = [
  ['Why was a push refused?', `exchanges?reference=ticketNumber:${STORY.refused}`],
  ['What corrected this weight?', `tickets?search=${STORY.corrected}`],
  ['What would this held run remove?', 'sync?status=held'],
  ['Play the arrival of this truck', `tickets?search=${STORY.arrival}`],
  ['What does the kit say of our own server?', 'connections?interface=vision'],
] as const;

/** The last output of `npm start`. Whoever can read it can read `secrets.json` too: the link signs in with the admin token. */
export function welcome(env: ResolvedEnv, baseUrl: string, signInCode: string): string {
  const width = Math.max(...QUESTIONS.map(([question]) => question.length)) + 2;
  return `
  Sign in (this link works once; later with the admin token in ${join(env.DATA_DIR, 'secrets.json')}):
    ${baseUrl}/console/api/sign-in/link?code=${signInCode}

  Five things to look at:
${QUESTIONS.map(([question, page]) => `    ${question.padEnd(width)}${baseUrl}/console/${page}`).join('\n')}

  Swagger UI ${baseUrl}/docs   Webhooks that arrived ${baseUrl}${RECEIVER_PATH}
`;
}

/** The demo's keys, and one call for each interface of the served sides that works when pasted. */
export function examples(env: ResolvedEnv, baseUrl: string, demo: Demo): string {
  const platform = env.SIDES.has('platform');
  const partner = env.SIDES.has('partner');
  const sides = [
    ...(platform ? [platformSide(baseUrl, demo, partner)] : []),
    ...(partner ? [partnerSide(baseUrl, demo)] : []),
  ];
  return `\n${sides.map(({ key }) => key).join('')}\n${sides.map(({ calls }) => calls).join('')}`;
}

/** A line with the key, and a paragraph for each interface. */
interface SideText {
  readonly key: string;
  readonly calls: string;
}

function platformSide(baseUrl: string, { keys, clip }: Demo, hasSites: boolean): SideText {
  const ticket = {
    siteId: DEMO.siteId,
    materials: [
      {
        id: DEMO.materialId,
        name: 'Mixed construction debris',
        quantity: 12.48,
        unitPriceCents: 6250.5,
        unitOfMeasure: 'Ton',
      },
    ],
    inboundFlow: { ticketNumber: 'IN-204817', updatedAt: clip.startTime },
  };
  const account = { accountName: 'Lone Star Demolition LLC', primaryContact: { firstName: 'Dana', lastName: 'Reyes' } };
  return {
    key: `  PLATFORM-API-KEY  ${keys.platform}\n`,
    // Without the demo partner no site exists that a ticket could name.
    calls: `  Scale: push a ticket${hasSites ? '' : ' (after a connection has synchronised sites)'}
${hasSites ? `    ${post(`${baseUrl}/platform-api/v1/tickets`, 'PLATFORM-API-KEY', keys.platform, ticket)}\n` : ''}
  Account: create a customer account
    ${post(`${baseUrl}/platform-api/v1/accounts`, 'PLATFORM-API-KEY', keys.platform, account)}

`,
  };
}

function partnerSide(baseUrl: string, { keys, clip }: Demo): SideText {
  const video = { customerId: DEMO.haulerId, truckId: DEMO.truckId, cameraId: 'front', ...clip };
  return {
    key: `  API-KEY           ${keys.partner}\n`,
    calls: `  Site: list the sites of the demo partner
    curl -sS '${baseUrl}/scale-platform/v1/sites?haulerId=${DEMO.haulerId}' -H 'API-KEY: ${keys.partner}'

  Vision: request a clip from the demo partner
    ${post(`${baseUrl}/video-platform/v1/videos/requests`, 'API-KEY', keys.partner, video)}

`,
  };
}

function post(url: string, header: string, key: string, body: unknown): string {
  return `curl -sS '${url}' -H '${header}: ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}
