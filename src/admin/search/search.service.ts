import { Injectable } from '@nestjs/common';
import { partPattern } from '../../accounts/account-name.js';
import { keyPrefix } from '../../auth/api-key.js';
import { haulerNames } from '../../auth/haulers.repository.js';
import type { Found, SearchResults } from '../../contracts/admin/search.routes.js';
import { isUuid } from '../../contracts/common/text.js';
import { Database } from '../../core/database/database.js';
import { listedHaulers } from '../../core/database/hauler-limit.js';
import { ExchangeQueries } from '../../exchanges/exchange-queries.service.js';
import { isWellFormedKey } from '../../core/observability/key-form.js';
import { SearchRepository } from './search.repository.js';
import { foundExchange, foundThing, LOOKS, referencesOf, soughtText } from './search.rules.js';

const MAX_FOUND = 20;
const MAX_EXCHANGES = 5;

/** One look for all that has a number, a name or an id, within the haulers of the caller. */
@Injectable()
export class Search {
  constructor(
    private readonly database: Database,
    private readonly things: SearchRepository,
    private readonly exchanges: ExchangeQueries,
  ) {}

  async find(q: string): Promise<SearchResults> {
    const trimmed = q.trim();
    const isId = isUuid(trimmed);
    const text = isId ? trimmed.toLowerCase() : trimmed;
    const lookedFor = isId ? [LOOKS.id, LOOKS.calls] : [LOOKS.numbers, LOOKS.names, LOOKS.calls];
    if (text === '') return { data: [], lookedFor };
    const things = isId ? await this.byId(text) : await this.byText(text);
    const calls = await this.calls(text, isId);
    return { data: [...once(things), ...calls].slice(0, MAX_FOUND), lookedFor };
  }

  private async byId(id: string): Promise<Found[]> {
    return (await this.things.byId(id, listedHaulers())).map(foundThing);
  }

  private async byText(text: string): Promise<Found[]> {
    const sought = soughtText(
      text,
      isWellFormedKey(text) ? keyPrefix(text) : text.replace(/…$/, ''),
      partPattern(text),
    );
    return (await this.things.byText(sought, listedHaulers())).map(foundThing);
  }

  private async calls(text: string, isId: boolean): Promise<Found[]> {
    const sought = { text, references: referencesOf(text, isId) };
    const rows = await this.exchanges.naming(sought, listedHaulers(), MAX_EXCHANGES);
    const names = await haulerNames(
      this.database,
      rows.flatMap(({ hauler_id: id }) => id ?? []),
    );
    return rows.map((row) => foundExchange(row, names));
  }
}

/** An account is found by its number and by its name, a truck by its recordings and by its subscription. */
const once = (things: readonly Found[]): Found[] => [...new Map(things.map((each) => [each.page, each])).values()];
