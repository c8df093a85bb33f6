/* SPDX-License-Identifier: Apache-2.0 */
/* The version of the harness, as runs record it. */
#ifndef TOPKCTS_VERSION_H
#define TOPKCTS_VERSION_H

#define TOPKCTS_VERSION "0.1.0"

#endif
