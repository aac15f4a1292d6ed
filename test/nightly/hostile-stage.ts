import { expect } from '@jest/globals';
import fc from 'fast-check';
import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import { ADMIN_API } from '../../src/contracts/admin/admin.api.js';
import { type ApiContract, type ErrorKind, KIND_STATUS } from '../../src/contracts/common/api-contract.js';
import { SCALE_API } from '../../src/contracts/scale/scale.api.js';
import { SITE_API } from '../../src/contracts/site/site.api.js';
import { VISION_API } from '../../src/contracts/vision/vision.api.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import type { Reply } from '../support/http.js';
import { at, CUSTOMER, TRUCK, upload } from '../support/reference-vision.js';
import { bodies, headers, queries } from './hostile-requests.js';
import type { OpenApiDocument } from '../support/openapi-arbitrary.js';
import { ScaleHouse } from '../support/scale-house.js';
import { wholeDocument } from '../support/whole-document.js';

/** Each with a hauler of its own, so that what one has sent is still there when it looks. */
const LANES = 4;
const CONTRACTS: readonly ApiContract[] = [SCALE_API, ACCOUNT_API, SITE_API, VISION_API];

export interface Sent {
  readonly bytes: Buffer | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
}

export interface Lane {
  readonly house: ScaleHouse;
  readonly key: string;
}

export type Check = (lane: Lane, sent: Sent, reply: Reply<never>) => Promise<void> | void;

const SUCCESS = {
  createTicket: [200],
  createAccount: [200],
  getSites: [200, 304],
  requestVideo: [202],
  listVideos: [200],
  listContinuous: [200],
} as const satisfies Record<string, readonly number[]>;

export type RouteName = keyof typeof SUCCESS;

const isIn = (statuses: readonly number[], status: number) => statuses.includes(status);

/** The service, its documents, and callers who send whatever can be made from them. */
export class HostileStage {
  /** Cases, and those that were accepted. */
  readonly counts = { cases: 0, accepted: 0 };

  private constructor(
    readonly service: TestApp,
    readonly lanes: readonly Lane[],
    private readonly documents: ReadonlyMap<string, OpenApiDocument>,
  ) {}

  static async open(): Promise<HostileStage> {
    const service = await startTestApp();
    const lanes: Lane[] = [];
    for (let lane = 0; lane < LANES; lane++) {
      const house = await ScaleHouse.open(service);
      const { key } = await issueKey(service, ['account', 'site', 'vision'], { haulerId: house.haulerId });
      await service.admin('PUT', `/hosted/haulers/${house.haulerId}/site-data`, {
        sites: [{ id: house.siteId, name: 'Site' }],
      });
      lanes.push({ house, key });
    }
    expect((await upload(service, 0)).status).toBe(201);
    const documents = new Map<string, OpenApiDocument>();
    for (const { name } of [...CONTRACTS, ADMIN_API]) {
      documents.set(name, wholeDocument((await service.call<OpenApiDocument>('GET', `/docs/${name}.json`)).body));
    }
    return new HostileStage(service, lanes, documents);
  }

  documentOf({ name }: Pick<ApiContract, 'name'>): OpenApiDocument {
    const document = this.documents.get(name);
    if (document === undefined) throw new Error(`no document of ${name}`);
    return document;
  }

  /** So many cases of a route, each lane with a seed of its own; a failure names the smallest case that fails. */
  async fuzz(api: ApiContract, name: RouteName, cases: number, check: Check = () => undefined): Promise<void> {
    const route = Object.entries(api.routes).find(([known]) => known === name)?.[1];
    if (route === undefined) throw new Error(`${api.name} has no route ${name}`);
    const { method, path } = route;
    const operation = this.documentOf(api).paths[api.prefix + path]?.[method.toLowerCase()] ?? {};
    const assertLane = (lane: Lane, index: number) => {
      const known = this.knownTo(lane);
      const sent = fc.record({
        bytes: bodies(this.documentOf(api), operation, known),
        query: queries(this.documentOf(api), operation, known),
        headers,
      });
      const property = fc.asyncProperty(sent, async (one: Sent) => {
        const keyHeader = { [api.keyHeader]: api === SCALE_API ? lane.house.key : lane.key };
        const reply = await this.service.call<never>(method, `${api.prefix}${path}?${one.query}`, {
          headers: { ...one.headers, ...keyHeader },
          ...(one.bytes === undefined ? {} : { body: one.bytes }),
        });
        this.expectInContract(api, api.prefix + path, reply, SUCCESS[name]);
        if (isIn(SUCCESS[name], reply.status)) await check(lane, one, reply);
      });
      return fc.assert(property, {
        numRuns: Math.round(cases / LANES),
        seed: (fc.readConfigureGlobal().seed ?? 0) + index,
      });
    };
    await Promise.all(this.lanes.map(assertLane));
  }

  private knownTo({ house }: Lane) {
    return {
      siteId: [house.siteId],
      id: [house.materialId],
      haulerId: [house.haulerId, this.lanes[0]?.house.haulerId ?? ''],
      customerId: [CUSTOMER],
      truckId: [TRUCK],
      cameraId: ['front'],
      startTime: [at(0), at(-1)],
      endTime: [at(1), at(2)],
    };
  }

  /** An answer that the contract allows: of the success, or an error of its closed set in the common body. */
  expectInContract(api: ApiContract, path: string, reply: Reply, success: readonly number[]): void {
    this.counts.cases++;
    expect(reply.headers.get('x-request-id')).not.toBeNull();
    if (isIn(success, reply.status)) return void this.counts.accepted++;
    const kinds = (Object.keys(KIND_STATUS) as ErrorKind[]).filter((kind) => KIND_STATUS[kind] === reply.status);
    expect([reply.status, kinds.length]).toEqual([reply.status, 1]);
    expect(reply.status).toBeLessThan(500);
    const isPlain = Object.values(api.routes).some((route) => route.plainErrors && api.prefix + route.path === path);
    expect(reply.body).toEqual({
      success: false,
      error: {
        code: api.errors[kinds[0] ?? 'internal'],
        message: expect.stringMatching(/\S/),
        ...(isPlain ? {} : detailsOf(reply.body)),
      },
    });
  }

  close(): Promise<void> {
    return this.service.close();
  }
}

function detailsOf(body: unknown): object {
  const details = (body as { error?: { details?: unknown } }).error?.details;
  return details === undefined ? {} : { details: expect.any(Object) };
}
