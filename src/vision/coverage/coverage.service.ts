import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type {
  Coverage,
  CoverageBucket,
  CoverageInterval,
  CoverageQuery,
} from '../../contracts/admin/coverage.routes.js';
import { epochMillis, formatInstant } from '../../contracts/common/instant.js';
import type { Violation } from '../../contracts/common/violation.js';
import { invalid } from '../../core/errors/app-error.js';
import { unknownConnection, VisionConnections } from '../client/vision-connections.repository.js';
import { type CameraPieces, CoveragePieces } from './coverage-pieces.service.js';
import { CoverageSums } from './coverage-sums.service.js';
import { isLost, lastAskedAt, listsNone, type Piece, rangeViolations, SIDES } from './coverage.rules.js';

const MAX_BUCKETS = 50_000;

/** The coverage of a truck's cameras over time (decision 49). */
@Injectable()
export class CoverageService {
  constructor(
    private readonly pieces: CoveragePieces,
    private readonly connections: VisionConnections,
    private readonly sums: CoverageSums,
  ) {}

  /** 400 with every violation. */
  async of(query: CoverageQuery): Promise<Coverage> {
    const violations = rangeViolations(query);
    if (!(await this.connections.exists(query.connectionId))) violations.push(unknownConnection());
    if (violations.length > 0) throw invalid(violations);
    return query.resolution === undefined
      ? { data: await this.intervals(query) }
      : { data: await this.aggregated(query, query.resolution) };
  }

  private async aggregated(query: CoverageQuery, resolution: number): Promise<CoverageBucket[]> {
    const [fromMs, toMs] = [epochMillis(query.from), epochMillis(query.to)];
    const buckets = Math.ceil((toMs - fromMs) / (resolution * 1000));
    const cameras = await this.pieces.cameras(query, query.cameraId);
    if (cameras.length * buckets > MAX_BUCKETS) throw invalid([tooManyBuckets()]);
    const edges = [...Array.from({ length: buckets }, (_, i) => fromMs + i * resolution * 1000), toMs];
    const times = edges.map((edge) => formatInstant(new Date(edge)));
    const seconds = await this.sums.of(cameras, edges);
    return cameras.flatMap(({ name }, i) =>
      (seconds[i] ?? []).map((states, bucket) => ({
        ...(name === undefined ? {} : { cameraId: name }),
        startTime: times[bucket] ?? '',
        endTime: times[bucket + 1] ?? '',
        ...states,
      })),
    );
  }

  private async intervals(query: CoverageQuery): Promise<CoverageInterval[]> {
    const cameras = await this.pieces.cameras(query, query.cameraId);
    const data: CoverageInterval[] = [];
    for (const [i, piecesOf] of (await this.pieces.of(query, cameras)).entries()) {
      const covered = piecesOf();
      let startTime = formatInstant(new Date(epochMillis(query.from)));
      for (const piece of covered.pieces) {
        const interval = toInterval(piece, startTime, covered, cameras[i]?.name);
        data.push(interval);
        // Each interval begins where the one before ended, so that a time is formatted once.
        startTime = interval.endTime;
      }
      await yieldToEventLoop();
    }
    return data;
  }
}

const tooManyBuckets = (): Violation => ({
  path: 'resolution',
  rule: 'isRange',
  message: `resolution must be larger: at most ${MAX_BUCKETS} buckets of all cameras are returned`,
});

function toInterval(
  piece: Piece,
  startTime: string,
  { asked, failing }: CameraPieces,
  cameraId: string | undefined,
): CoverageInterval {
  const { start, end, state, recordingId } = piece;
  const at = piece.isRead === true ? lastAskedAt(asked, start, end) : undefined;
  const askedAt = at === undefined ? undefined : formatInstant(new Date(at));
  const failed = failing.find((window) => window.start < end && window.end > start);
  const reason = piece.isRead === true ? listsNone(askedAt, failed?.reason) : piece.reason;
  return {
    ...(cameraId === undefined ? {} : { cameraId }),
    startTime,
    endTime: formatInstant(new Date(end)),
    state,
    lost: isLost(piece),
    ...(recordingId === undefined ? {} : { recordingId }),
    ...(reason === undefined ? {} : { reason }),
    ...(piece.cause === undefined ? {} : { cause: piece.cause, side: SIDES[piece.cause] }),
    ...(askedAt === undefined ? {} : { lastAskedAt: askedAt }),
  };
}
