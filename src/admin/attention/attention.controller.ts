import { Controller } from '@nestjs/common';
import { Route } from '../../auth/route.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import { AttentionService } from './attention.service.js';

/** What needs attention, of both sides. */
@Controller()
export class AttentionController {
  constructor(private readonly attention: AttentionService) {}

  @Route(ADMIN_API, 'getAttention')
  get() {
    return this.attention.look();
  }
}
