import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A customer of a hauler, as its partner has sent it (sections 2.4, 2.5). */
@Entity('accounts')
export class AccountEntity {
  @PrimaryColumn('uuid', { name: 'hauler_id' }) haulerId!: string;
  @PrimaryColumn('uuid') id!: string;
  @Column('text', { name: 'account_number' }) accountNumber!: string;
  @Column('text', { name: 'account_name' }) accountName!: string;
  @Column('bytea', { name: 'name_digest', select: false }) nameDigest!: Buffer;
  @Column('text', { name: 'search_text', select: false }) searchText!: string;
  /** Null if no address was sent; its fields are null too then. */
  @Column('uuid', { name: 'address_id', nullable: true }) addressId!: string | null;
  @Column('text', { nullable: true }) street!: string | null;
  @Column('text', { nullable: true }) unit!: string | null;
  @Column('text', { nullable: true }) city!: string | null;
  @Column('text', { nullable: true }) state!: string | null;
  @Column('text', { nullable: true }) country!: string | null;
  @Column('text', { nullable: true }) zip!: string | null;
  /** Null if no contact was sent; its fields are null too then. */
  @Column('uuid', { name: 'contact_id', nullable: true }) contactId!: string | null;
  @Column('text', { name: 'first_name', nullable: true }) firstName!: string | null;
  @Column('text', { name: 'last_name', nullable: true }) lastName!: string | null;
  @Column('text', { nullable: true }) email!: string | null;
  @Column('text', { nullable: true }) phone!: string | null;
  @Column('timestamptz', { name: 'created_at' }) createdAt!: Date;
  @Column('timestamptz', { name: 'updated_at' }) updatedAt!: Date;
}
