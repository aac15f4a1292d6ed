import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { ApiContract, ApiRoute } from '../contracts/common/api-contract.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import { apiError } from '../core/errors/app-error.js';
import { referencesIn } from '../exchanges/exchange-queries.service.js';
import type { FullExchangeRow } from '../exchanges/exchanges.repository.js';
import { inCallContext } from '../core/outbound/outbound-log.js';
import { SealBrokenError } from '../partner-client/connection-keys.service.js';
import { ConnectionsService } from '../partner-client/connections.service.js';
import { PartnerClient } from '../partner-client/partner-client.js';
import { PartnerFailure } from '../partner-client/partner-failure.js';
import { ExchangeReplay, type Replayed } from './exchange-replay.service.js';

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
