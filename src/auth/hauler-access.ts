import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import type { ApiRoute } from '../contracts/common/api-contract.js';
import { ownField, parseJson } from '../contracts/common/json.js';
import { isUuid } from '../contracts/common/text.js';
import { Database } from '../core/database/database.js';
import type { HaulerLimit } from '../core/database/hauler-limit.js';
import { apiError } from '../core/errors/app-error.js';
import { hasBody } from '../core/http/http-server.js';
import { readJsonText } from '../core/http/json-body.js';
import type { AdminCaller } from '../core/http/principal.js';
import { ownerOf } from './owners.repository.js';

/**
 * What a caller that is limited to haulers may name: the id in the path, and hauler and connection in query and body. What
 * belongs to another hauler does not exist. Lists are limited where they are read (`listPage`).
 */
@Injectable()
export class HaulerAccess {
  constructor(private readonly database: Database) {}

  /** Throws `forbidden` for a route that concerns all haulers, or for another hauler, `notFound` for what is of another one. */
  async check(request: Request, route: ApiRoute, { haulers = [], name }: AdminCaller): Promise<HaulerLimit> {
    if (route.isPerHauler !== true) {
      throw apiError(ADMIN_API, 'forbidden', `this concerns all haulers; ${name} is limited to some of them`);
    }
    const { id } = request.params;
    if (typeof id === 'string') await this.requireOwn(haulers, route.resource, id);
    const body = route.body === undefined || !hasBody(request) ? undefined : await bodyOf(request);
    for (const named of [request.query, body]) await this.requireNamed(haulers, named, name);
    return { haulers, isOwner: typeof id === 'string' };
  }

  private async requireNamed(haulers: readonly string[], named: unknown, name: string): Promise<void> {
    const [haulerId, connectionId] = [ownField(named, 'haulerId'), ownField(named, 'connectionId')];
    // Other values are refused by the route.
    if (typeof haulerId === 'string' && isUuid(haulerId) && !haulers.includes(haulerId.toLowerCase())) {
      throw apiError(ADMIN_API, 'forbidden', `${name} may see other haulers only: ${haulers.join(', ')}`);
    }
    if (typeof connectionId !== 'string' || !isUuid(connectionId)) return;
    const owner = await ownerOf(this.database, 'connection', connectionId);
    if (owner === undefined || !haulers.includes(owner)) {
      throw apiError(ADMIN_API, 'forbidden', `the haulers of ${name} have no connection ${connectionId}`);
    }
  }

  private async requireOwn(haulers: readonly string[], resource: string, id: string): Promise<void> {
    // A malformed id is refused by the route.
    if (!isUuid(id)) return;
    const owner = await ownerOf(this.database, resource, id);
    if (owner === undefined || !haulers.includes(owner)) {
      throw apiError(ADMIN_API, 'notFound', `there is no ${resource.replace('-', ' ')} ${id}`);
    }
  }
}

/** The handler reads the same text again, and refuses one that is no JSON. */
async function bodyOf(request: Request): Promise<unknown> {
  const text = await readJsonText(request);
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
