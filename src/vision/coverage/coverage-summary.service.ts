import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type {
  CameraCoverage,
  CoverageCause,
  CoverageSummary,
  CoverageSummaryQuery,
} from '../../contracts/admin/coverage.dto.js';
import { epochMillis, formatInstant, instantOf } from '../../contracts/common/instant.js';
import { invalid } from '../../errors/app-error.js';
import { unknownConnection, VisionConnections } from '../client/vision-connections.repository.js';
import { CoveragePieces } from './coverage-pieces.service.js';
import { type CoveredCamera, CoverageRepository } from './coverage.repository.js';
import { type Piece, rangeViolations, SIDES } from './coverage.rules.js';

/** Read at once: of a truck with many recordings, a month has more than memory should hold. */
const SLICE_MS = 86_400_000;

/** Milliseconds of each state, and of each cause; a failed one is also missing. */
interface Sums {
  readonly states: Record<'stored' | 'available' | 'expired' | 'missing' | 'failed', number>;
  readonly causes: Map<CoverageCause, number>;
}

/** Why footage of a truck is missing, by camera: what its intervals add up to. */
@Injectable()
export class CoverageSummaries {
  constructor(
    private readonly pieces: CoveragePieces,
    private readonly coverage: CoverageRepository,
    private readonly connections: VisionConnections,
  ) {}

  /** 400 with every violation. */
  async of(query: CoverageSummaryQuery): Promise<CoverageSummary> {
    const violations = rangeViolations(query);
    if (!(await this.connections.exists(query.connectionId))) violations.push(unknownConnection());
    if (violations.length > 0) throw invalid(violations);
    const cameras = await this.pieces.cameras(query);
    const sums = await this.sums(query, cameras);
    const { connectionId, truckId, to } = query;
    const named = cameras.map(({ names }) => ({ connectionId, truckId, names: [...names] }));
    const times = await this.coverage.lastRecorded(named, to);
    const data = cameras.map((camera, i) => toDto(camera, sums[i] ?? noSums(), times[i]));
    return { data: data.sort((one, other) => lost(other) - lost(one)) };
  }

  private async sums(query: CoverageSummaryQuery, cameras: readonly CoveredCamera[]): Promise<Sums[]> {
    const sums = cameras.map(noSums);
    const [from, to] = [epochMillis(query.from), epochMillis(query.to)];
    for (let start = from; start < to; start += SLICE_MS) {
      const slice = {
        ...query,
        from: instantOf(new Date(start)),
        to: instantOf(new Date(Math.min(start + SLICE_MS, to))),
      };
      for (const [i, piecesOf] of (await this.pieces.of(slice, cameras)).entries()) {
        for (const piece of piecesOf().pieces) add(sums[i] ?? noSums(), piece);
        await yieldToEventLoop();
      }
    }
    return sums;
  }
}

const noSums = (): Sums => ({
  states: { stored: 0, available: 0, expired: 0, missing: 0, failed: 0 },
  causes: new Map(),
});

function add({ states, causes }: Sums, { start, end, state, recordingId, cause }: Piece): void {
  states[state] += end - start;
  if (state === 'missing' && (recordingId !== undefined || cause === 'clipFailed')) states.failed += end - start;
  if (cause !== undefined) causes.set(cause, (causes.get(cause) ?? 0) + end - start);
}

const lost = ({ expired, failed }: CameraCoverage): number => expired + failed;

function toDto({ name, names }: CoveredCamera, { states, causes }: Sums, at: Date | undefined): CameraCoverage {
  const [stored, available, expired] = [states.stored / 1000, states.available / 1000, states.expired / 1000];
  return {
    ...(name === undefined ? {} : { cameraId: name }),
    names: [...names].sort(),
    ...(at === undefined ? {} : { lastRecordedAt: formatInstant(at) }),
    ...{ stored, available, expired, missing: states.missing / 1000, failed: states.failed / 1000 },
    causes: [...causes]
      .map(([cause, milliseconds]) => ({ cause, side: SIDES[cause], seconds: milliseconds / 1000 }))
      .sort((one, other) => other.seconds - one.seconds),
  };
}
