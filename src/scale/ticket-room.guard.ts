import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { TicketService } from './ticket.service.js';

/** A smaller body is read in any case: the log of exchanges then has all of it. */
const MAX_SMALL_BYTES = 16 * 1024;

/** Refuses a large push before its body is read, while no more pushes may wait: reading it would cost memory for nothing. */
@Injectable()
export class TicketRoomGuard implements CanActivate {
  constructor(private readonly tickets: TicketService) {}

  canActivate(context: ExecutionContext): boolean {
    const { complete, headers } = context.switchToHttp().getRequest<Request>();
    const bytes = Number(headers['content-length'] ?? 0);
    if (!complete && bytes > MAX_SMALL_BYTES) this.tickets.expectRoom(bytes);
    return true;
  }
}
