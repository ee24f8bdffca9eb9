import { sealDeposits, sealTrades } from './token-store.ts'

const AT_A_TIME = 200

/** Encrypts trade tokens that an earlier version stored unencrypted, in small transactions. Call it periodically. */
export async function sealTokens(deps: Parameters<typeof sealDeposits>[0]): Promise<void> {
  for (const sealSome of [sealDeposits, sealTrades]) {
    // A batch that is not full was the last one.
    while ((await sealSome(deps, AT_A_TIME)) === AT_A_TIME);
  }
}
