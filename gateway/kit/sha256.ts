import { createHash } from 'node:crypto'

export function sha256(data: string | Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}
