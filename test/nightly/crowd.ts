import type { DataSource } from 'typeorm';
import type { BuiltService } from '../support/built-service.js';
import { CatalogFixture } from '../support/catalog.js';

/** Decision 13 promises an answer within 5 s. This busy process adds its own delay. */
const TIMEOUT_MS = 15_000;

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
    const caller = async () => {
      while (more()) {
        try {
          const { status, headers, text } = await this.push(service, bulk);
          if (status === 200) acknowledged++;
          else if (status === 503 && headers.get('retry-after') !== null) {
            refused++;
            onRefused();
          } else wrong.push(`${status} ${text}`);
        } catch (error) {
          wrong.push(String(error));
        }
      }
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return { acknowledged, refused, wrong };
  }

  private async push({ url }: BuiltService, bulk: string): Promise<{ status: number; headers: Headers; text: string }> {
    const response = await fetch(`${url}/platform-api/v1/tickets`, {
      method: 'POST',
      headers: { 'PLATFORM-API-KEY': this.key, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        siteId: this.siteId,
        materials: [{ id: this.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
        inboundFlow: { ticketNumber: `O${this.sent++}`, updatedAt: '2026-01-31T08:30:00Z' },
        // Unknown, and kept in the stored push (decision 4).
        bulk,
      }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  }
}
