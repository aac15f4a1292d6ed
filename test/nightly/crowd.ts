import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { DataSource } from 'typeorm';
import type { BuiltService } from '../support/built-service.js';
import { CatalogFixture } from '../support/catalog.js';

/** Decision 13 promises an answer within 5 s. This busy process adds its own delay. */
const TIMEOUT_MS = 15_000;

/** One address may have 500 connections, those that end after a refusal included. */
const ADDRESSES = 10;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly text: string;
}

export interface Loaded {
  readonly acknowledged: number;
  /** With 503 and Retry-After. */
  readonly refused: number;
  /** Answers that are neither, and calls without an answer. */
  readonly wrong: readonly string[];
}

/** Many callers that push tickets of one hauler. */
export class Crowd {
  private sent = 0;

  private constructor(
    private readonly key: string,
    private readonly siteId: string,
    private readonly materialId: string,
  ) {}

  /** `service` and `db` are of the same database. */
  static async create(service: BuiltService, db: DataSource): Promise<Crowd> {
    const { id: haulerId } = (await service.admin<{ id: string }>('POST', '/haulers', { name: 'Busy' })).body;
    const issued = await service.admin<{ key: string }>('POST', '/api-keys', { haulerId, interfaces: ['scale'] });
    const catalog = new CatalogFixture(db);
    const siteId = await catalog.site(haulerId);
    return new Crowd(issued.body.key, siteId, await catalog.material(haulerId, { siteId }));
  }

  /** Sends `pushes` tickets in all. */
  async pushAll(service: BuiltService, callers: number, pushes: number): Promise<Loaded> {
    let left = pushes;
    return this.pushWhile(service, callers, () => left-- > 0, {});
  }

  /**
   * Each caller has a connection of its own, and sends its next push after the response to the last one, while `more()` is
   * true. `bulk` is added to each push. `onRefused` is called for every 503.
   */
  async pushWhile(
    service: BuiltService,
    callers: number,
    more: () => boolean,
    { bulk = '', onRefused = () => undefined }: { readonly bulk?: string; readonly onRefused?: () => void },
  ): Promise<Loaded> {
    const wrong: string[] = [];
    let [acknowledged, refused] = [0, 0];
    const caller = async (_: unknown, i: number) => {
      const agent = agentOf(i);
      while (more()) {
        try {
          const { status, retryAfter, text } = await this.push(service, bulk, agent);
          if (status === 200) acknowledged++;
          else if (status === 503 && retryAfter !== undefined) {
            refused++;
            onRefused();
          } else wrong.push(`${status} ${text}`);
        } catch (error) {
          wrong.push(String(error));
        }
      }
      agent.destroy();
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return { acknowledged, refused, wrong };
  }

  private push({ url }: BuiltService, bulk: string, agent: Agent): Promise<Answer> {
    const body = JSON.stringify({
      siteId: this.siteId,
      materials: [{ id: this.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
      inboundFlow: { ticketNumber: `O${this.sent++}`, updatedAt: '2026-01-31T08:30:00Z' },
      // Unknown, and kept in the stored push (decision 4).
      bulk,
    });
    const headers = {
      'PLATFORM-API-KEY': this.key,
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(body),
    };
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const sent = request(`${url}/platform-api/v1/tickets`, { method: 'POST', agent, headers, signal }, (answer) => {
        const { statusCode: status = 0, headers: received } = answer;
        text(answer).then((body) => resolve({ status, retryAfter: received['retry-after'], text: body }), reject);
      });
      sent.once('error', reject).end(body);
    });
  }
}

/** A connection that is kept, from one of the addresses. */
const agentOf = (caller: number): Agent =>
  new Agent({ keepAlive: true, maxSockets: 1, localAddress: `127.0.0.${2 + (caller % ADDRESSES)}` });
