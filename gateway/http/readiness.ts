/** Tells a load balancer whether to send calls to this process. */
import type { FastifyInstance } from 'fastify'

/** The phase of the process. `draining`: it stops soon, but still answers while load balancers notice that. */
export type Progress = { state: 'starting' | 'ready' | 'draining' }

const READY: Progress = { state: 'ready' }

export type ReadinessOptions = {
  progress?: Progress
  healthy(): Promise<boolean>
  /** True between two epochs of the database, when the till opens no deposit, sends no offer and publishes no event. */
  isStopped?: () => boolean
}

export function answerReadiness(
  app: FastifyInstance,
  { progress = READY, healthy, isStopped = () => false }: ReadinessOptions,
): void {
  const findTrouble = async () => {
    if (!(await healthy())) return 'database out of reach'
    return isStopped() ? 'restore unfinished' : undefined
  }
  app.get('/readyz', async (_request, reply) => {
    const status = (progress.state === 'ready' ? await findTrouble() : undefined) ?? progress.state
    return reply.code(status === 'ready' ? 200 : 503).send({ status })
  })
}
