import { Injectable, type OnModuleInit } from '@nestjs/common';
import { OutboundSwitch } from '../../outbound/outbound-switch.js';
import { consolePage, type Notice } from './attention.rules.js';
import { AttentionService } from './attention.service.js';

/** Whether calls to partners are switched off. */
@Injectable()
export class OutboundAttention implements OnModuleInit {
  constructor(
    private readonly attention: AttentionService,
    private readonly outbound: OutboundSwitch,
  ) {}

  onModuleInit(): void {
    this.attention.add([{ kinds: ['outbound-off'], find: (now) => this.find(now) }]);
  }

  private async find(now: number): Promise<Notice[]> {
    const { reason, isOffByVariable, since = new Date(now) } = await this.outbound.read();
    if (reason === undefined) return [];
    const sentence = isOffByVariable
      ? 'This is a copy, with OUTBOUND=off: no partner is called and no file is fetched. If it replaces the original, start it without OUTBOUND=off.'
      : `No partner is called and no file is fetched: ${reason}. Switch the calls on with PUT /admin/v1/outbound or cli outbound set.`;
    const page = consolePage('connections', {});
    return [{ kind: 'outbound-off', severity: 'now', count: 1, subject: 'calls to partners', since, sentence, page }];
  }
}
