import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type {
  FootageReason,
  RecordedTickets,
  TicketFootage,
  TicketFootageRequests,
} from '../../contracts/admin/footage.dto.js';
import { apiError } from '../../core/errors/app-error.js';
import { findConnection } from '../../partner-client/connections.service.js';
import { type WeighedTicket, WeighedTickets } from '../../scale/weighed-tickets.js';
import { type FootageQuery, TruckFootage } from '../../vision/footage/truck-footage.service.js';
import { Recordings } from '../../vision/recordings/recordings.service.js';
import { type FootageSetting, TicketFootageRepository } from './footage-settings.repository.js';
import {
  AROUND_MS,
  FOOTAGE_SENTENCES,
  isBlocking,
  spansOf,
  type TicketSpan,
  toRangeDto,
  truckOf,
} from './ticket-footage.rules.js';

const MAX_TICKETS = 20;

/** A ticket with what leads to its footage, and why there is none. */
interface Traced {
  readonly spans: readonly TicketSpan[];
  readonly setting: FootageSetting | undefined;
  readonly truckId: string | undefined;
  readonly query: FootageQuery | undefined;
  readonly reason: FootageReason | undefined;
}

/** The footage of a ticket: its truck by a custom field, its times by its flows. */
@Injectable()
export class TicketFootageService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: TicketFootageRepository,
    private readonly tickets: WeighedTickets,
    private readonly footage: TruckFootage,
    private readonly recordings: Recordings,
  ) {}

  async get(id: string): Promise<TicketFootage> {
    const traced = await this.trace(await this.tickets.get(id));
    const { spans, setting, truckId, query, reason } = traced;
    const none = { coverage: [], recordings: [], requests: [] };
    return {
      truckId: truckId ?? null,
      connectionId: setting?.connectionId ?? null,
      ranges: spans.map(toRangeDto),
      ...(query === undefined ? none : await this.footage.read(query)),
      ...(reason === undefined ? {} : { reason: sentenceOf(reason, traced), reasonCode: reason }),
    };
  }

  /** Throws `conflict` with a reason where nothing can be requested. */
  async request(id: string, by: string): Promise<TicketFootageRequests> {
    const traced = await this.trace(await this.tickets.get(id));
    const { query } = traced;
    let { reason } = traced;
    if (reason === 'unknownTruck' && query?.cameras.length === 0) reason = 'noCamera';
    if (query === undefined || (reason !== undefined && isBlocking(reason))) {
      const code = reason ?? 'notSetUp';
      throw apiError(ADMIN_API, 'conflict', sentenceOf(code, traced), { details: { reasonCode: code } });
    }
    return { requests: await this.footage.requestMissing(query, by) };
  }

  /** The tickets that name the truck of a recording and were weighed about then, the nearest first. */
  async ticketsOf(recordingId: string): Promise<RecordedTickets> {
    const { haulerId, connectionId, truckId, startTime, endTime } = await this.recordings.get(recordingId);
    const setting = await this.settings.find(haulerId);
    if (setting?.connectionId !== connectionId) return { data: [] };
    const [start, end] = [Date.parse(startTime), Date.parse(endTime)];
    const [from, to] = [new Date(start - AROUND_MS), new Date(end + AROUND_MS)];
    const found = await this.tickets.between(haulerId, from, to, truckId);
    const distance = ({ flows }: WeighedTicket) =>
      Math.min(...flows.map(({ time }) => Math.max(start - Date.parse(time), Date.parse(time) - end, 0)));
    const own = found
      .filter(({ customFields }) => truckOf(customFields, setting.truckField) === truckId)
      .sort((a, b) => distance(a) - distance(b) || (a.id < b.id ? 1 : -1));
    return { data: own.slice(0, MAX_TICKETS).map(({ id, flows }) => ({ id, flows })) };
  }

  private async trace({ haulerId, flows, customFields }: WeighedTicket): Promise<Traced> {
    // Whole seconds: a range that is running should not change with each reading within one.
    const spans = spansOf(flows, Math.floor(Date.now() / 1_000) * 1_000);
    const setting = await this.settings.find(haulerId);
    const truckId = setting && truckOf(customFields, setting.truckField);
    const query =
      setting === undefined || truckId === undefined || spans.length === 0
        ? undefined
        : { haulerId, connectionId: setting.connectionId, truckId, cameras: setting.cameras, spans };
    if (query !== undefined) return { spans, setting, truckId, query, reason: await this.reasonOf(query) };
    const ofTicket = flows.length === 0 ? 'noTimes' : truckId === undefined ? 'noTruck' : 'future';
    return { spans, setting, truckId, query, reason: setting === undefined ? 'notSetUp' : ofTicket };
  }

  private async reasonOf(query: FootageQuery): Promise<FootageReason | undefined> {
    const connection = await findConnection(this.dataSource, query.haulerId, query.connectionId);
    if (connection === undefined) return 'connectionDeleted';
    if (!(await this.footage.knowsTruck(query))) return 'unknownTruck';
    return (await this.footage.hasCamera(query)) ? undefined : 'noCamera';
  }
}

const sentenceOf = (reason: FootageReason, { setting, truckId }: Traced): string =>
  FOOTAGE_SENTENCES[reason](setting?.truckField ?? '', truckId ?? '');
