import { Injectable } from '@nestjs/common';
import { instantOf } from '../../contracts/common/instant.js';
import { CoverageSums } from './coverage-sums.service.js';
import { CoverageRepository, type FleetTruck, type TruckCamera } from './coverage.repository.js';
import { type StateSeconds, sumOf } from './coverage.rules.js';

/** A camera that a subscription reads. */
export interface FollowedCamera extends TruckCamera {
  readonly haulerId: string;
  readonly name: string;
}

/** The footage of many trucks together, as the fleet has it for each. */
@Injectable()
export class FootageSums {
  constructor(
    private readonly coverage: CoverageRepository,
    private readonly sums: CoverageSums,
  ) {}

  /** Of all cameras of these haulers, or of all. Times are milliseconds since the epoch. */
  async total(haulers: readonly string[] | undefined, from: number, to: number): Promise<StateSeconds> {
    const { cameras } = await this.trucksOf(haulers, from, to);
    return sumOf((await this.sums.of(cameras.flat(), [from, to])).flat());
  }

  /** The cameras that subscriptions read now, and that recorded in this time. */
  async followed(haulers: readonly string[] | undefined, from: number, to: number): Promise<FollowedCamera[]> {
    const { trucks, cameras } = await this.trucksOf(haulers, from, to);
    const range = { from: instantOf(new Date(from)), to: instantOf(new Date(to)) };
    const subscriptions = (await this.coverage.subscriptions(trucks, range)).filter(({ is_ended }) => !is_ended);
    return trucks.flatMap(({ haulerId, connectionId, truckId }, i) => {
      const own = subscriptions.filter((each) => each.connection_id === connectionId && each.truck_id === truckId);
      const isRead = ({ names }: TruckCamera) => own.some(({ camera_id: id }) => id === null || names.includes(id));
      return (cameras[i] ?? []).flatMap((camera) => {
        const { name } = camera;
        return name !== undefined && isRead(camera) ? [{ ...camera, haulerId, name }] : [];
      });
    });
  }

  /** Seconds that were recorded between each two edges, whether they are stored yet or lost. */
  async recorded(cameras: readonly TruckCamera[], edges: readonly number[]): Promise<number[][]> {
    return (await this.sums.of(cameras, edges)).map((own) =>
      own.map(({ stored, available, lost }) => stored + available + lost),
    );
  }

  lastRecorded(cameras: readonly TruckCamera[], to: number): Promise<(Date | undefined)[]> {
    return this.coverage.lastRecorded(cameras, instantOf(new Date(to)));
  }

  private async trucksOf(haulers: readonly string[] | undefined, from: number, to: number) {
    const range = { from: instantOf(new Date(from)), to: instantOf(new Date(to)) };
    const trucks: FleetTruck[] = [];
    for (const haulerId of haulers ?? [undefined]) {
      trucks.push(...(await this.coverage.trucks({ ...range, ...(haulerId === undefined ? {} : { haulerId }) })));
    }
    return { trucks, cameras: await this.coverage.cameras(trucks, range) };
  }
}
