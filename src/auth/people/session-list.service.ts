import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { List, ListQuery } from '../../contracts/admin/list.dto.js';
import type { AdminSession } from '../../contracts/admin/people.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { Database } from '../../core/database/database.js';
import { listPage } from '../../core/database/list-page.js';
import { apiError } from '../../core/errors/app-error.js';
import { deleteSessionById, type ListedSession, openSessions } from '../console-session.repository.js';
import { ConsoleSessions } from '../console-sessions.js';

/** The sessions of the console, for admins. */
@Injectable()
export class SessionList {
  constructor(
    private readonly database: Database,
    private readonly sessions: ConsoleSessions,
  ) {}

  /** Newest first. */
  async list(query: ListQuery, request: Request): Promise<List<AdminSession>> {
    const { rows, pagination } = await listPage<ListedSession>(this.database, openSessions(), query);
    const own = this.sessions.hashIn(request);
    return {
      data: rows.map((row) => ({
        ...this.ownerOf(row),
        id: row.id,
        createdAt: formatInstant(row.createdAt),
        expiresAt: formatInstant(row.expiresAt),
        isCurrent: own?.equals(row.cookieHash) === true,
      })),
      pagination,
    };
  }

  async end(id: string): Promise<void> {
    if (!(await deleteSessionById(this.database, id)))
      throw apiError(ADMIN_API, 'notFound', `there is no session ${id}`);
  }

  private ownerOf(row: ListedSession): Pick<AdminSession, 'kind' | 'name' | 'email' | 'role' | 'haulers'> {
    if (row.keyPrefix !== null) return { kind: 'partner', name: row.keyPrefix };
    const caller = this.sessions.callerOf(row);
    if (caller === undefined) return { kind: row.person === null ? 'token' : 'person', name: 'no longer valid' };
    const { name, role, haulers, person } = caller;
    return {
      kind: person === undefined ? 'token' : 'person',
      name,
      role,
      ...(person?.email === undefined ? {} : { email: person.email }),
      ...(haulers === undefined ? {} : { haulers: [...haulers] }),
    };
  }
}
