import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A tenant of the platform (decision 1). */
@Entity('haulers')
export class HaulerEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('text')
  name!: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;
}
