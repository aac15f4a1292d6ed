import type { RuleName } from '../contracts/common/rules.js';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { Application } from 'express';
import { ApiKeyAdmin } from '../auth/api-key-admin.service.js';
import { HaulersService } from '../auth/haulers.service.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import {
  MAX_FAILURE_LENGTH,
  MAX_REPLAYS,
  type ReplayAnswer,
  type ReplayedExchange,
  type ReplayedExchanges,
  type ReplayExchangeRequest,
  type ReplayExchangesRequest,
} from '../contracts/admin/exchanges.routes.js';
import { apiError, AppError, invalid } from '../core/errors/app-error.js';
import { errorReply } from '../core/errors/error-body.js';
import { ExchangeLog } from '../exchanges/exchange-log.service.js';
import { ExchangeQueries, headersIn, referencesIn } from '../exchanges/exchange-queries.service.js';
import type { ExchangeListRow, FullExchangeRow } from '../exchanges/exchanges.repository.js';
import { replayHeaders, replayRefusal } from '../exchanges/replay.rules.js';
import { Call } from '../core/http/call.js';
import { InnerServer } from '../core/http/inner-server.js';
import type { Principal } from '../core/http/principal.js';
import type { ApiContract, ApiRoute } from '../contracts/common/api-contract.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import { inCallContext } from '../core/outbound/outbound-log.js';
import { SealBrokenError } from '../partner-client/connection-keys.service.js';
import { ConnectionsService } from '../partner-client/connections.service.js';
import { PartnerClient } from '../partner-client/partner-client.js';
import { PartnerFailure } from '../partner-client/partner-failure.js';

/** The exchange log writes in batches. */
const WRITTEN_WITHIN_MS = 5_000;
const POLL_MS = 50;

/** The id of the new exchange, and the status of its response; null without one. */
interface Replayed {
  readonly exchangeId: string;
  readonly status: number | null;
}

/** Sends an outbound `GET` again. */
type ReplayOutbound = (row: FullExchangeRow) => Promise<Replayed>;

/** Sends the requests of earlier exchanges again. */
@Injectable()
export class ExchangeReplay {
  private readonly logger = new Logger('ExchangeReplay');
  private sendOutbound: ReplayOutbound | undefined;

  constructor(
    private readonly exchanges: ExchangeQueries,
    private readonly log: ExchangeLog,
    private readonly keys: ApiKeyAdmin,
    private readonly haulers: HaulersService,
    private readonly adapter: HttpAdapterHost,
  ) {}

  /** The platform side provides the calls to partners. */
  useOutbound(send: ReplayOutbound): void {
    this.sendOutbound = send;
  }

  /** A dry run sends nothing: it refuses what cannot be sent. */
  async replay(id: string, { haulerId, dryRun = false }: ReplayExchangeRequest): Promise<ReplayedExchange> {
    this.assertLogged();
    const row = await this.exchanges.row(id);
    const body = await this.exchanges.wholeRequest(row);
    const reason = this.refusal(row, body);
    if (reason !== undefined) throw refused(`the exchange ${id} cannot be replayed: ${reason}`);
    if (haulerId !== undefined) await this.assertReplayable(row, haulerId);
    if (dryRun) return { status: null, earlier: await this.answer(id) };
    const replayed = await this.send(row, body, haulerId);
    const now = await this.answerOf(replayed.exchangeId);
    return { ...replayed, earlier: await this.answer(id), now };
  }

  /** `names` are the fields of the body as it was sent. */
  async replayMany(filter: ReplayExchangesRequest, names: readonly string[]): Promise<ReplayedExchanges> {
    this.assertLogged();
    const { dryRun = false } = filter;
    if (!dryRun && names.every((name) => name === 'dryRun'))
      throw tooMany('needsFilter', 'give at least one filter, such as haulerId or from');
    const found = await this.exchanges.matching(filter, names, MAX_REPLAYS + 1);
    if (found.length > MAX_REPLAYS) {
      throw tooMany('matchesFew', `more than ${MAX_REPLAYS} exchanges match: narrow the filter with from and to`);
    }
    const result: ReplayedExchanges = { matched: found.length, replayed: 0, skipped: [], failed: [] };
    for (const row of found.toReversed()) await this.replayInto(result, row, dryRun);
    return result;
  }

  /** An exchange that cannot be sent does not stop the others: the caller learns what was sent. */
  private async replayInto(result: ReplayedExchanges, { id, replay_of: of }: ExchangeListRow, dryRun: boolean) {
    try {
      const row = await this.exchanges.row(id);
      const body = await this.exchanges.wholeRequest(row);
      const reason = of === null ? this.refusal(row, body) : `it is a replay of ${of}`;
      if (reason !== undefined) result.skipped.push({ exchangeId: id, reason });
      else if (!dryRun) {
        await this.send(row, body);
        result.replayed++;
      }
    } catch (error) {
      if (!(error instanceof AppError)) this.logger.error({ err: error, exchangeId: id }, 'replay failed');
      result.failed.push({ exchangeId: id, ...failureOf(error) });
    }
  }

  private assertLogged(): void {
    if (!this.log.isOn) throw refused('EXCHANGE_LOG is off: a replay could not be recorded');
  }

  private refusal(row: FullExchangeRow, body: Buffer | undefined): string | undefined {
    if (row.direction === 'outbound' && this.sendOutbound === undefined) {
      return 'this instance does not serve the platform side';
    }
    return replayRefusal(row, body);
  }

  private async assertReplayable({ direction }: FullExchangeRow, haulerId: string): Promise<void> {
    if (direction === 'outbound') throw invalidHauler('haulerId applies to inbound exchanges only');
    if (!(await this.haulers.exists(haulerId))) throw invalidHauler('haulerId must be the id of a hauler');
  }

  private send(row: FullExchangeRow, body: Buffer | undefined, haulerId?: string): Promise<Replayed> {
    return row.direction === 'outbound' && this.sendOutbound !== undefined
      ? this.sendOutbound(row)
      : this.sendInbound(row, body ?? Buffer.alloc(0), haulerId);
  }

  private async sendInbound(row: FullExchangeRow, body: Buffer, haulerId?: string): Promise<Replayed> {
    const caller = await this.callerOf(row, haulerId);
    const server = new InnerServer(this.adapter.httpAdapter.getInstance<Application>());
    const headers = {
      ...replayHeaders(row, headersIn(row.request_headers)),
      'content-length': String(body.length),
    };
    const call = new Call({ of: row.id, caller });
    const status = await server.send({ method: row.method, path: row.path, headers, body }, call);
    const { exchangeId } = call;
    if (exchangeId === undefined) throw new Error(`the replay of ${row.id} was not recorded`);
    return { exchangeId, status };
  }

  /** The owner of the earlier key, even if it was revoked or has expired. Another hauler has no key in this exchange. */
  private async callerOf({ id, api_key_id: keyId }: FullExchangeRow, haulerId?: string): Promise<Principal> {
    const owner = keyId === null ? undefined : await this.keys.callerOf(keyId);
    if (owner === undefined) throw refused(`the API key of the exchange ${id} is unknown`);
    if (haulerId === undefined || haulerId === owner.haulerId) return owner;
    return { ...owner, keyId: null, keyPrefix: '', haulerId, connectionId: null, customerId: null };
  }

  /** Undefined if the exchange is not stored in time. */
  private async answerOf(id: string): Promise<ReplayAnswer | undefined> {
    await this.log.flushForReader();
    for (const started = performance.now(); performance.now() - started < WRITTEN_WITHIN_MS; await delay(POLL_MS)) {
      if (await this.exchanges.isStored(id)) return this.answer(id);
    }
    return undefined;
  }

  private async answer(id: string): Promise<ReplayAnswer> {
    const { status, failure, response } = await this.exchanges.get(id);
    return { status, failure, response };
  }
}

/** As the error body of a single replay would have them. */
function failureOf(error: unknown): { code: string; message: string } {
  const expected =
    error instanceof AppError ? error : new AppError('internal', 'an error in this service, see its log');
  const { code, message } = errorReply(expected, ADMIN_API.prefix).body.error;
  return { code, message: message.slice(0, MAX_FAILURE_LENGTH) };
}

const refused = (message: string) => apiError(ADMIN_API, 'conflict', message);

const invalidHauler = (message: string) => invalid([{ path: 'haulerId', rule: 'isKnown', message }]);

const tooMany = (rule: RuleName, message: string) => invalid([{ path: '', rule, message }]);

/** Sends a `GET` to a partner again, and changes nothing else: the response is read for the exchange log alone. */
@Injectable()
export class OutboundReplay implements OnModuleInit {
  constructor(
    private readonly replays: ExchangeReplay,
    private readonly connections: ConnectionsService,
    private readonly client: PartnerClient,
  ) {}

  onModuleInit(): void {
    this.replays.useOutbound((row) => this.send(row));
  }

  /** With several keys of a connection, the last call counts. A failure of the partner is a result; a call that could not be made is 409. */
  private async send(row: FullExchangeRow): Promise<Replayed> {
    const connection = await this.connections.required(row.connection_id ?? '');
    const api: ApiContract = row.interface === 'site' ? SITE_API : VISION_API;
    const route: ApiRoute | undefined = api.routes[row.route ?? ''];
    if (route === undefined) throw apiError(ADMIN_API, 'conflict', `the route ${row.route} no longer exists`);
    const query = Object.fromEntries(new URL(row.path, 'http://partner').searchParams);
    let last: Replayed | undefined;
    const onEnd = (call: { readonly id: string; readonly status: number }) => {
      last = { exchangeId: call.id, status: call.status === 0 ? null : call.status };
    };
    try {
      await inCallContext({ references: referencesIn(row), replayOf: row.id, onEnd }, () =>
        this.client.stream(connection, { api, route, query, once: true, duringPause: true }, (answer) =>
          answer.discard(),
        ),
      );
    } catch (error) {
      const isExpected = error instanceof PartnerFailure || error instanceof SealBrokenError;
      if (!isExpected) throw error;
      if (last === undefined) throw apiError(ADMIN_API, 'conflict', error.message, { cause: error });
    }
    if (last === undefined) throw new Error(`the replay of ${row.id} was not sent`);
    return last;
  }
}
