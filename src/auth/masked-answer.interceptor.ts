import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  StreamableFile,
} from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { maskJson } from '../core/observability/redaction.js';

/**
 * Masks secrets of ours in the answers of the admin and partner API (decision 59). What callers push is stored as it was
 * sent, and may contain a key in any field. `streamedList` masks the elements of a stream.
 */
@Injectable()
export class MaskedAnswer implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map(masked));
  }
}

function masked(body: unknown): unknown {
  if (typeof body === 'string') return maskJson(body);
  if (typeof body !== 'object' || body === null || body instanceof StreamableFile) return body;
  const json = JSON.stringify(body);
  const text = maskJson(json);
  return text === json ? body : (JSON.parse(text) as unknown);
}
