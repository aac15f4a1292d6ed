import { join } from 'node:path';
import type { SettledEnv } from '../config/env.js';
import { DEMO } from './demo-data.js';
import type { Demo } from './seed.js';

/** What `npm start` tells at the end: where to look, the demo's keys, and one call an interface that works when pasted. */
export function welcome(env: SettledEnv, baseUrl: string, { keys, clip }: Demo): string {
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
  const video = { customerId: DEMO.haulerId, truckId: DEMO.truckId, cameraId: 'front', ...clip };
  return `
  Swagger UI        ${baseUrl}/docs
  Admin token       in ${join(env.DATA_DIR, 'secrets.json')}, unless ADMIN_TOKEN is set
  PLATFORM-API-KEY  ${keys.platform}
  API-KEY           ${keys.partner}

  Scale: push a ticket
    ${post(`${baseUrl}/platform-api/v1/tickets`, 'PLATFORM-API-KEY', keys.platform, ticket)}

  Account: create a customer account
    ${post(`${baseUrl}/platform-api/v1/accounts`, 'PLATFORM-API-KEY', keys.platform, account)}

  Site: what the demo partner offers
    curl -sS '${baseUrl}/scale-platform/v1/sites?haulerId=${DEMO.haulerId}' -H 'API-KEY: ${keys.partner}'

  Vision: ask the demo partner for a clip
    ${post(`${baseUrl}/video-platform/v1/videos/requests`, 'API-KEY', keys.partner, video)}

`;
}

function post(url: string, header: string, key: string, body: unknown): string {
  return `curl -sS ${url} -H '${header}: ${key}' -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`;
}
