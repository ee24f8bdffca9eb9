/** Replays a recorded Steam, and runs the port's checks on it. */
import { checkPort, type PortChecks } from '../steam/port-checks.ts'
import type { RecordedReply } from '../steam/record.ts'
import type { SteamRecord } from '../steam/record-file.ts'
import type { Steam } from '../steam/steam.ts'
import { createSandboxAgent } from '../steam/web/agent.ts'
import { createWebSteam } from '../steam/web/web-steam.ts'
import { jwt, type SteamReply, scriptedSteam } from './steam-server.ts'

export type Replayed = {
  passed: string[]
  failure: string | undefined
  /** Recorded requests that the port did not make. */
  unsent: string[]
}

/** Replays the record through the port. `wrap` can wrap the port to record its answers. */
export async function replay(
  record: SteamRecord,
  wrap: (steam: Steam) => Steam = (steam) => steam,
): Promise<Replayed> {
  const server = await scriptedSteam()
  const queues = Map.groupBy(record.replies, ({ method, place }) => `${method} ${place}`)
  for (const place of new Set(record.replies.map((reply) => reply.place))) {
    server.routes.set(place, ({ method }) => answerOf(queues.get(`${method} ${place}`)?.shift()))
  }
  const passed: string[] = []
  const web = createWebSteam({
    redirect: createSandboxAgent('sandbox', server.url),
    time: { now: () => performance.now(), pause: async () => {} },
  })
  try {
    const failure = await checkPort({
      steam: wrap(web),
      refreshToken: jwt({ iss: 'steam', sub: record.bot, aud: ['web', 'renew', 'derive'] }),
      partner: record.partner,
      game: record.game,
      clock: { now: () => new Date(record.at) },
      pause: async () => {},
      onPassed: (what) => void passed.push(what),
      ...smokeOf(record),
    }).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    return { passed, failure, unsent: [...queues].flatMap(([request, left]) => left.map(() => request)) }
  } finally {
    await server.close()
  }
}

function answerOf(reply: RecordedReply | undefined): SteamReply {
  if (reply === undefined) return { status: 404, body: null }
  return { status: reply.status, headers: reply.headers, body: reply.body }
}

/** Repeats the offer of the recorded run, if it sent one. */
function smokeOf({ item, isAccepted }: SteamRecord): Pick<PortChecks, 'smoke'> {
  if (item === null) return {}
  return {
    smoke: {
      choose: (items) => items.find(({ assetId }) => assetId === item),
      ...(isAccepted ? { accept: async () => {} } : {}),
    },
  }
}
