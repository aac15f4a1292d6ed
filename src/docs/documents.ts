import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ADMIN_SECURITY } from '../auth/admin-api.js';
import type { Side } from '../config/env.js';
import { ACCOUNT_API } from '../contracts/accounts/account.api.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { ApiContract } from '../contracts/common/api-contract.js';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import { finish } from './finish.js';
import { GUIDES } from './guides.js';

/** One published document: `/docs/<name>.json` and `.yaml`. */
export interface Publication {
  readonly api: ApiContract;
  /** The side that serves it; both where none is named. */
  readonly side?: Side;
}

export const PUBLICATIONS: readonly Publication[] = [
  { api: SCALE_API, side: 'platform' },
  { api: ACCOUNT_API, side: 'platform' },
  { api: SITE_API, side: 'partner' },
  { api: VISION_API, side: 'partner' },
  { api: ADMIN_API },
];

/** What an instance that serves these sides publishes: a document of the other side would have no paths. */
export function publicationsOf(sides: ReadonlySet<Side>): readonly Publication[] {
  return PUBLICATIONS.filter(({ side }) => side === undefined || sides.has(side));
}

/** The OpenAPI document of one contract, out of the classes and controllers that serve it. */
export function documentOf(whole: OpenAPIObject, { api }: Publication): OpenAPIObject {
  const base = new DocumentBuilder()
    .setTitle(`haulbridge ${api.title}`)
    .setDescription(GUIDES[api.name])
    .setVersion(api.version)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer(
      '/',
      'The instance that serves this document, be it local, staging or production',
      {},
      { 'x-internal': api.name === 'admin' },
    )
    .addSecurity(api.name === 'admin' ? ADMIN_SECURITY : api.keyHeader, securityScheme(api))
    .build();
  const served = Object.entries(whole.paths).filter(([path]) => belongs(api, path));
  // Several controllers may serve one subject of the admin API, and Swagger UI shows operations in the order they have here.
  if (api.name === 'admin') served.sort(([one], [other]) => (one < other ? -1 : 1));
  const paths = Object.fromEntries(served);
  return finish({ ...base, paths, components: { ...whole.components, ...base.components } }, api);
}

/** All routes of the application in one document, from which each publication takes its own. */
export function wholeDocument(app: INestApplication): OpenAPIObject {
  return SwaggerModule.createDocument(app, new DocumentBuilder().build(), {
    operationIdFactory: (_controller, method) => method,
    autoTagControllers: false,
  });
}

function belongs(api: ApiContract, path: string): boolean {
  const routes = Object.values(api.routes).map((route) => api.prefix + route.path);
  return routes.length === 0 ? path.startsWith(`${api.prefix}/`) : routes.includes(path);
}

function securityScheme(api: ApiContract): Parameters<DocumentBuilder['addSecurity']>[1] {
  if (api.keyHeader === 'Authorization') {
    return { type: 'http', scheme: 'bearer', description: 'The admin token of this service (RFC 6750)' };
  }
  return { type: 'apiKey', in: 'header', name: api.keyHeader, description: `API key of the ${api.title}` };
}
