/** Encrypts trade tokens that an earlier version stored unencrypted. */
import type { Db } from '../db/client.ts'
import { inTransaction } from '../db/transaction.ts'
import type { SecretBox } from '../kit/secret-box.ts'
import { sealedForDeposit, TOKEN_PLACE } from './trade-token.ts'

type Deps = { db: Db; box: SecretBox }

/** Encrypts up to `limit` tokens of deposits and resolves to their number. Skips rows locked by another process. */
export function sealDeposits({ db, box }: Deps, limit: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    const rows = await tx
      .selectFrom('deposit')
      .select(['id', 'hash', 'user_token'])
      .where('user_token', 'is not', null)
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute()
    for (const { id, hash, user_token: token } of rows) {
      if (token === null) continue
      await tx
        .updateTable('deposit')
        .set(sealedForDeposit(box, hash, token))
        .where('id', '=', id)
        .execute()
    }
    return rows.length
  })
}

/** Like `sealDeposits`, for the tokens of trades. */
export function sealTrades({ db, box }: Deps, limit: number): Promise<number> {
  return inTransaction(db, async (tx) => {
    const rows = await tx
      .selectFrom('trade')
      .select(['id', 'secret_code', 'partner_token'])
      .where('partner_token', 'is not', null)
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute()
    for (const { id, secret_code: secretCode, partner_token: token } of rows) {
      if (token === null) continue
      const partner_token_sealed = box.seal(token, TOKEN_PLACE.trade(secretCode))
      const sealed = { partner_token: null, partner_token_sealed }
      await tx.updateTable('trade').set(sealed).where('id', '=', id).execute()
    }
    return rows.length
  })
}
