import { randomUUID } from 'node:crypto';
import { idOf, kiosk, material, site } from '../../support/site-data.js';
import { Hauler, ONE_SITE, type Plain, TICKET } from './hauler.js';
import { at, HostedCustomer, TRUCK } from './hosted.js';
import { administer, target } from './target.js';

export const ROUTES = ['createTicket', 'createAccount', 'getSites', 'requestVideo', 'listVideos', 'listContinuous'];

/** What a caller sees of one call. The status is undefined where the connection ended without a response. */
export interface Outcome {
  readonly status: number | undefined;
  readonly headers: Headers;
  readonly text: string;
  /** The connection ended before the end of the response. */
  readonly isCut: boolean;
  readonly took: number;
}

export interface CallChange {
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields of the body, or parameters of the query. */
  readonly fields?: Plain;
}

/** Two sites of the hosted partner side. */
export const HOSTED_SITES = {
  sites: [site('north'), site('south')],
  kiosks: [kiosk('gate', 'north'), kiosk('scale', 'south')],
  materials: [material('soil', { siteId: idOf('north') }), material('gravel', { kioskId: idOf('scale') })],
};

/** A hauler and a customer of their own, on whom scenarios of the sandbox act. */
export class SandboxScene {
  private constructor(
    readonly hauler: Hauler,
    readonly customer: HostedCustomer,
  ) {}

  /** Four minutes of one truck, whose front camera has the other name 1. */
  static async create(): Promise<SandboxScene> {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const customer = await HostedCustomer.create(target, { interfaces: ['site', 'vision'], haulerId: hauler.id });
    await administer('PUT', `/hosted/haulers/${hauler.id}/site-data`, HOSTED_SITES);
    await customer.record([0, 1, 2, 3]);
    await customer.putCamera('front', ['1']);
    return new SandboxScene(hauler, customer);
  }

  /** `haulers/ID` or `customers/ID`, whichever the operation belongs to. */
  subjectOf(route: string): string {
    const isVision = /Video|Continuous/.test(route);
    return isVision ? `customers/${encodeURIComponent(this.customer.id)}` : `haulers/${this.hauler.id}`;
  }

  /** Starts a scenario of an operation, by default for one call. */
  start(name: string, route: string, body: Plain = { times: 1 }): Promise<unknown> {
    return administer('PUT', `/sandbox/${this.subjectOf(route)}/scenarios/${name}`, body);
  }

  /** Calls an operation, with valid fields but for those of `change`. */
  async call(route: string, { headers = {}, fields = {} }: CallChange = {}): Promise<Outcome> {
    const range = { customerId: this.customer.id, truckId: TRUCK, startTime: at(0) };
    switch (route) {
      case 'createTicket':
        return this.post('/platform-api/v1/tickets', { ...TICKET, ...fields }, headers);
      case 'createAccount':
        return this.post('/platform-api/v1/accounts', { accountName: `A ${randomUUID()}`, ...fields }, headers);
      case 'getSites':
        return this.get('/scale-platform/v1/sites', { haulerId: this.hauler.id, ...fields }, headers);
      case 'requestVideo':
        return this.post(
          '/video-platform/v1/videos/requests',
          { ...range, cameraId: 'front', endTime: at(1), ...fields },
          headers,
        );
      case 'listVideos':
        return this.get('/video-platform/v1/videos', { customerId: this.customer.id, ...fields }, headers);
      default:
        return this.get('/video-platform/v1/videos/continuous', { ...range, endTime: at(10), ...fields }, headers);
    }
  }

  private async post(path: string, body: Plain, headers: Plain): Promise<Outcome> {
    const given = { 'Content-Type': 'application/json', ...(await this.keys()), ...headers };
    return outcomeOf(fetch(target.url + path, { method: 'POST', headers: given, body: JSON.stringify(body) }));
  }

  private async get(path: string, query: Plain, headers: Plain): Promise<Outcome> {
    const parameters = new URLSearchParams(query as Record<string, string>).toString();
    return outcomeOf(fetch(`${target.url}${path}?${parameters}`, { headers: { ...(await this.keys()), ...headers } }));
  }

  private keys = async () => ({ 'API-KEY': this.customer.key, 'PLATFORM-API-KEY': await this.hauler.key() });
}

/** A connection that ends too early is an outcome, not a failure. */
export async function outcomeOf(call: Promise<Response>): Promise<Outcome> {
  const started = performance.now();
  const response = await call.catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  return {
    status: response?.status,
    headers: response?.headers ?? new Headers(),
    text: text ?? '',
    isCut: text === undefined,
    took: performance.now() - started,
  };
}
