const VOLUME = 0.2
/** How long the alarm continues after the first movement of the mouse, or the first touch. */
const AFTER_MOVE_MS = 1500

/**
 * Starts the looping alarm and returns a function that stops it. Calls `onEnd` when the alarm stops: at once if the
 * browser blocks sound.
 */
export function startAlarm(onEnd: () => void): () => void {
  const sound = new Audio('/alarm.wav')
  sound.loop = true
  sound.volume = VOLUME
  let timer: ReturnType<typeof setTimeout> | undefined
  const controller = new AbortController()

  const stop = (): void => {
    controller.abort()
    clearTimeout(timer)
    sound.pause()
    onEnd()
  }
  const moved = (): void => {
    timer ??= setTimeout(stop, AFTER_MOVE_MS)
  }
  for (const event of ['mousemove', 'touchstart']) {
    addEventListener(event, moved, { signal: controller.signal, passive: true })
  }
  sound.play().catch(stop)
  return stop
}
