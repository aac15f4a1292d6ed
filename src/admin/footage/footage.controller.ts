import { Controller, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { actorOf } from '../../auth/action-log.interceptor.js';
import { Route } from '../../auth/route.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { SetTicketFootage } from '../../contracts/admin/footage.dto.js';
import { IdParam } from '../../contracts/admin/list.dto.js';
import { JsonBody } from '../../core/http/json-body.js';
import { TicketFootageSettings } from './footage-settings.service.js';
import { TicketFootageService } from './ticket-footage.service.js';

/** The footage of tickets, and where it is. */
@Controller()
export class FootageController {
  constructor(
    private readonly settings: TicketFootageSettings,
    private readonly footage: TicketFootageService,
  ) {}

  @Route(ADMIN_API, 'setTicketFootage')
  set(@Param() { id }: IdParam, @JsonBody() request: SetTicketFootage) {
    return this.settings.set(id, request);
  }

  @Route(ADMIN_API, 'getTicketFootageSetting')
  getSetting(@Param() { id }: IdParam) {
    return this.settings.get(id);
  }

  @Route(ADMIN_API, 'deleteTicketFootageSetting')
  deleteSetting(@Param() { id }: IdParam) {
    return this.settings.delete(id);
  }

  @Route(ADMIN_API, 'getTicketFootage')
  get(@Param() { id }: IdParam) {
    return this.footage.get(id);
  }

  @Route(ADMIN_API, 'requestTicketFootage')
  request(@Param() { id }: IdParam, @Req() request: Request) {
    return this.footage.request(id, actorOf(request));
  }

  @Route(ADMIN_API, 'listRecordedTickets')
  tickets(@Param() { id }: IdParam) {
    return this.footage.ticketsOf(id);
  }
}
