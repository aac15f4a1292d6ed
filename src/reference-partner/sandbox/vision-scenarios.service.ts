import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import {
  type InjectedScenario,
  isMagicTruck,
  magicScenario,
  type ScenarioName,
  secondsOf,
} from '../../contracts/sandbox/scenarios.js';
import type { Recording } from '../../contracts/vision/vision.api.js';
import { SCENARIO_HEADER } from '../../core/http/call.js';
import { Database } from '../../core/database/database.js';
import { copyCameras, findAlias, findClipScenario, findSourceTruck } from './sandbox.repository.js';

/** How the links of one list are signed. */
export interface LinkTerms {
  readonly now: number;
  readonly ttlMs?: number;
  /** Acts on the downloads of the link. */
  readonly scenario?: string;
}

/** The scenario of a requested clip, as its row stores it. */
export interface ClipScenario {
  readonly name?: 'slow-clip' | 'failed-clip' | 'endless-clip';
  readonly seconds?: number;
  readonly reason?: string;
  /** The truck whose recordings a truck of the catalogue shows. */
  readonly sourceTruckId?: string;
}

const MINUTE_MS = 60_000;
const DEFAULT_REASON = 'The camera was switched off.';

/** The scenarios of Vision that need the data of the reference partner. */
@Injectable()
export class VisionScenarios {
  constructor(
    private readonly database: Database,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SANDBOX' | 'VISION_LINK_TTL'>,
  ) {}

  /**
   * Gives a truck of the catalogue the cameras of the customer's first truck, whose recordings it shows. Undefined for any
   * other truck, and for a customer without trucks.
   */
  async sourceTruck(customerId: string, truckId: string | undefined): Promise<string | undefined> {
    if (!this.env.SANDBOX || truckId === undefined || !isMagicTruck(truckId)) return undefined;
    const source = await findSourceTruck(this.database, customerId);
    if (source !== undefined) await copyCameras(this.database, customerId, source, truckId);
    return source;
  }

  /** How the link of an element is signed: by the scenario of the request, else by that of its truck. */
  linkTerms(injected: InjectedScenario | undefined, { truckId }: { readonly truckId: string }, now: number): LinkTerms {
    const scenario = injected ?? this.ofTruck(truckId);
    switch (scenario?.name) {
      case 'link-expired-at-birth':
        return { now: now - this.env.VISION_LINK_TTL - MINUTE_MS, scenario: scenario.name };
      case 'link-expires-during-download':
        return { now, ttlMs: secondsOf(scenario) * 1_000, scenario: scenario.name };
      case 'truncated-file':
      case 'etag-changes':
      case 'no-range':
        return { now, scenario: scenario.name };
      default:
        return { now };
    }
  }

  /** Returns the elements of a list with the changes of the scenario. */
  async changeElements<T extends Recording>(scenario: InjectedScenario | undefined, elements: T[]): Promise<T[]> {
    if (scenario?.name === 'late-chunks') return elements.filter((_, index) => index % 2 === 0);
    return Promise.all(
      elements.map(async (element) => {
        const { name } = scenario ?? this.ofTruck(element.truckId) ?? {};
        return name === 'camera-alias' ? { ...element, cameraId: await this.aliasOf(element) } : element;
      }),
    );
  }

  /** Names the scenario that has acted on a list: that of a clip that is not ready, or of the truck of an element. */
  async show({ call, res }: Request, videos: readonly Recording[], requestId?: string): Promise<void> {
    if (call.scenario !== undefined || !this.env.SANDBOX) return;
    const clip = requestId === undefined ? undefined : await findClipScenario(this.database, requestId);
    const scenario =
      clip === undefined
        ? videos.map(({ truckId }) => this.ofTruck(truckId)).find((each) => each !== undefined)
        : { name: clip as ScenarioName, parameters: {} };
    if (scenario === undefined) return;
    call.scenario = scenario;
    res?.setHeader(SCENARIO_HEADER, scenario.name);
  }

  private ofTruck(truckId: string): InjectedScenario | undefined {
    const name = this.env.SANDBOX ? magicScenario('listVideos', { truckId }) : undefined;
    return name === undefined ? undefined : { name, parameters: {} };
  }

  private async aliasOf(recording: Recording): Promise<string> {
    return (await findAlias(this.database, recording)) ?? `${recording.cameraId}-1`;
  }
}

export function clipScenario(
  scenario: InjectedScenario | undefined,
  sourceTruckId: string | undefined,
): ClipScenario | undefined {
  switch (scenario?.name) {
    case 'slow-clip':
      return { sourceTruckId, name: scenario.name, seconds: secondsOf(scenario) };
    case 'failed-clip':
      return { sourceTruckId, name: scenario.name, reason: String(scenario.parameters['reason'] ?? DEFAULT_REASON) };
    case 'endless-clip':
      return { sourceTruckId, name: scenario.name };
    default:
      return sourceTruckId === undefined ? undefined : { sourceTruckId };
  }
}
