import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { HaulersService } from '../../auth/haulers.service.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { type SetTicketFootage, TicketFootageSetting } from '../../contracts/admin/footage.dto.js';
import { present } from '../../contracts/common/present.js';
import type { Violation } from '../../contracts/common/violation.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { findConnection } from '../../partner-client/connections.service.js';
import { TicketFootageRepository } from './footage-settings.repository.js';

/** Where the footage of a hauler's tickets is: truck, connection and cameras. */
@Injectable()
export class TicketFootageSettings {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: TicketFootageRepository,
    private readonly haulers: HaulersService,
  ) {}

  async set(haulerId: string, request: SetTicketFootage): Promise<TicketFootageSetting> {
    await this.haulers.get(haulerId);
    const { truckField, connectionId } = request;
    const connection = await findConnection(this.dataSource, haulerId, connectionId);
    if (connection?.interface !== 'vision') throw invalid([notItsConnection()]);
    const cameras = [...new Set((request.cameras ?? []).map((camera) => camera.trim()))];
    return present(TicketFootageSetting, await this.settings.set(haulerId, { truckField, connectionId, cameras }));
  }

  async get(haulerId: string): Promise<TicketFootageSetting> {
    await this.haulers.get(haulerId);
    const row = await this.settings.find(haulerId);
    if (row === undefined) {
      throw apiError(ADMIN_API, 'notFound', `the footage of tickets is not set up for the hauler ${haulerId}`);
    }
    return present(TicketFootageSetting, row);
  }

  async delete(haulerId: string): Promise<void> {
    await this.haulers.get(haulerId);
    await this.settings.delete(haulerId);
  }
}

const notItsConnection = (): Violation => ({
  path: 'connectionId',
  rule: 'isKnown',
  message: 'connectionId must be the id of a vision connection of this hauler',
});
