import { Component, type ReactNode } from 'react'
import { NotFound } from './not-found.tsx'

type Props = { fallback?: ReactNode; children: ReactNode }

/** Replaces a screen that throws while rendering, or whose code cannot be loaded, with `fallback`, or else the 404 page. */
export class Guard extends Component<Props, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    return this.state.failed ? (this.props.fallback ?? <NotFound isCrash />) : this.props.children
  }
}
