/** Takes the jobs of one queue while there are places for them: no job is taken only to wait. */

export type Consumer = {
  /** Says that jobs may be waiting. */
  wake(): void
  /** Takes no more jobs, and resolves once those under way have ended. */
  stop(): Promise<void>
}

type ConsumerDeps<JOB> = {
  /** Jobs that run at the same time, at most. */
  places: number
  /** Takes up to `most` waiting jobs; fewer only where no more are waiting. */
  take(most: number): Promise<readonly JOB[]>
  /** Does the work of a job and settles it. Never rejects. */
  run(job: JOB): Promise<void>
  onError(error: unknown): void
}

export function createConsumer<JOB>({ places, take, run, onError }: ConsumerDeps<JOB>): Consumer {
  const running = new Set<Promise<void>>()
  let mayWait = false
  let stopped = false
  let filling: Promise<void> | undefined

  const canTake = () => mayWait && !stopped && running.size < places
  const start = (job: JOB) => {
    const work = run(job).finally(() => {
      running.delete(work)
      fill()
    })
    running.add(work)
  }
  const takeAll = async () => {
    while (canTake()) {
      mayWait = false
      const most = places - running.size
      const jobs = await take(most)
      if (jobs.length >= most) mayWait = true
      for (const job of jobs) start(job)
    }
  }
  const fill = () => {
    if (filling !== undefined || !canTake()) return
    filling = takeAll()
      .catch(onError)
      .finally(() => {
        filling = undefined
        // A wake-up may have come after the last look.
        fill()
      })
  }
  return {
    wake() {
      mayWait = true
      fill()
    },
    async stop() {
      stopped = true
      await filling
      await Promise.all(running)
    },
  }
}
