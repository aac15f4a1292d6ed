import { applyDecorators, Controller, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { FailsWith, OF_ALL } from '../http/route-documentation.js';
import { AdminGuard } from './admin.guard.js';

/** Name of the admin API's security scheme in its document. */
export const ADMIN_SECURITY = 'ADMIN-TOKEN';

const UNAUTHORIZED = {
  description: 'The admin token is missing or does not match',
  headers: {
    'WWW-Authenticate': {
      description: 'How the token is sent: as `Authorization: Bearer <token>`',
      schema: { type: 'string' as const, enum: ['Bearer'] },
    },
  },
};

/**
 * One line above a controller of the admin API: its place under `/admin/v1`, the guard, documentation and error replies.
 * What it is about, in the document, is the first part of its place.
 */
export function AdminApi(resource: string): ClassDecorator {
  const [subject = resource] = resource.split('/');
  return applyDecorators(
    Controller(`${ADMIN_API.prefix}/${resource}`),
    UseGuards(AdminGuard),
    ApiTags(subject),
    ApiBearerAuth(ADMIN_SECURITY),
    FailsWith({ ...OF_ALL, unauthorized: UNAUTHORIZED }),
  );
}
