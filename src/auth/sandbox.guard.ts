import { type CanActivate, Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { apiError } from '../core/errors/app-error.js';

/** Without SANDBOX every call of the sandbox is `notFound`, whatever its body. Runs after the guard of the key. */
@Injectable()
export class SandboxGuard implements CanActivate {
  constructor(@Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SANDBOX'>) {}

  canActivate(): boolean {
    if (this.env.SANDBOX) return true;
    throw apiError(ADMIN_API, 'notFound', 'there is no sandbox here: SANDBOX is off');
  }
}
