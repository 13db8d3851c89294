//go:build unix

package server

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// asOrdinaryUser makes cmd run, and dir belong to, a user without privileges when the test itself runs as root, which
// PostgreSQL refuses.
func asOrdinaryUser(cmd *exec.Cmd, dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := ordinaryUser()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	cmd.Dir = dir
	return os.Chown(dir, uid, gid)
}

func ordinaryUser() (uid, gid int, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		account, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(account.Uid)
		gid, gidErr := strconv.Atoi(account.Gid)
		if uidErr == nil && gidErr == nil {
			return uid, gid, nil
		}
	}
	return 0, 0, fmt.Errorf("running as root, and neither user postgres nor nobody exists")
}
