/** The operator's approvals of wishes, each in a sealed file that `approve` writes and the running vault reads. */
import { z } from 'zod'
import type { Approval } from '../giving/judge.ts'
import type { Folder } from './folder.ts'
import { type Key, openSealed } from './key.ts'

const approvalSchema = z.strictObject({
  partner: z.strictObject({ steamId: z.string(), token: z.string() }),
  assets: z.array(z.strictObject({ appId: z.int(), contextId: z.string(), assetId: z.string() })),
})

const fileOf = (wishId: string): string => `approval-${wishId}`

export function saveApproval(
  folder: Folder,
  key: Key,
  { wishId, approval }: { wishId: string; approval: Approval },
): void {
  folder.write(fileOf(wishId), key.seal(JSON.stringify(approval), fileOf(wishId)))
}

export function readApproval(folder: Folder, key: Key, wishId: string): Approval | undefined {
  const name = fileOf(wishId)
  const sealed = folder.read(name)
  if (sealed === undefined) return undefined
  return approvalSchema.parse(JSON.parse(openSealed(folder, key, { name, sealed, place: name })))
}
