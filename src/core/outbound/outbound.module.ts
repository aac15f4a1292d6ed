import { Module } from '@nestjs/common';
import { OutboundSwitch } from './outbound-switch.js';

/** The switch of all calls to partners. */
@Module({ providers: [OutboundSwitch], exports: [OutboundSwitch] })
export class OutboundModule {}
